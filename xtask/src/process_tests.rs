use super::*;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

#[test]
fn flags_are_found_and_strangers_refused() {
    assert_eq!(flags(&words("--check"), ["--check", "--quick"]).unwrap(), [true, false]);
    assert_eq!(flags(&words(""), ["--check"]).unwrap(), [false]);
    let error = flags(&words("--chekc"), ["--check"]).unwrap_err().to_string();
    assert!(error.contains("--chekc") && error.contains("--check"), "{error}");
}

#[test]
fn a_failing_command_is_named_with_its_last_words() {
    let error = output(command("python3").args(["-c", "import sys; sys.exit('no such thing')"]));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("python3 -c") && error.contains("no such thing"), "{error}");
}

#[test]
fn a_missing_program_is_named() {
    let error = run(&mut command("minfer-no-such-program")).unwrap_err().to_string();
    assert!(error.contains("minfer-no-such-program"), "{error}");
}

#[test]
fn the_root_holds_the_workspace() {
    assert!(root().join("rust-toolchain.toml").exists());
}
