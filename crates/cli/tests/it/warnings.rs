//! What is said beside an answer: settings beyond model and machine, ends that cut something off,
//! events.

use std::fs::File;
use std::process::Command;

use crate::shell::{Ended, Shell};

fn tiny(shell: &Shell) -> String {
    shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]).trim().to_owned()
}

fn run(shell: &Shell, arguments: &[&str]) -> Ended {
    let model = shell.path("m.gguf");
    let fixed = ["run", "-m", model.to_str().unwrap(), "-s", "1", "--no-timings"];
    let ended = shell.run(&[&fixed[..], arguments].concat());
    assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
    ended
}

#[test]
fn settings_beyond_model_and_machine_are_told_once() {
    let shell = Shell::new();
    let model = tiny(&shell);
    for (flags, parts) in [
        (&["-c", "5000"][..], &["--ctx-size 5000", "4096"][..]),
        (&["-t", "1000"], &["--threads 1000", "processor"]),
        (&["-ngl", "99"], &["--gpu-layers 99", "no GPU device", "the CPU runs all"]),
        (&["-ngl", "all", "--device", "cpu"], &["--gpu-layers all", "--device cpu"]),
    ] {
        let ended = run(&shell, &[flags, &["-n", "1", "hi"]].concat());
        assert_eq!(ended.stderr.lines().count(), 1, "{flags:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("warning: "), "{flags:?}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
        }
        let explained = shell.run(&[&["explain", "-m", &model][..], flags].concat());
        assert_eq!(explained.stderr, ended.stderr, "{flags:?}");
    }
    let ended = run(&shell, &["-c", "4096", "-t", "1", "-ngl", "0", "-n", "1", "hi"]);
    assert_eq!(ended.stderr, "");
    shell.write("all.toml", "gpu-layers = all\nthreads = 0\n");
    assert_eq!(run(&shell, &["--config-file", "all.toml", "-n", "1", "hi"]).stderr, "");
    shell.write("some.toml", "gpu-layers = 3\n");
    let ended = run(&shell, &["--config-file", "some.toml", "-n", "1", "hi"]);
    assert!(ended.stderr.contains("--gpu-layers 3: "), "{}", ended.stderr);
    shell.write("text.txt", &"some words ".repeat(500));
    let scored = ["perplexity", "-m", &model, "-f", "text.txt", "-c", "4100", "--kl"];
    let ended = shell.run(&scored);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("--ctx-size 4100").count(), 1, "{}", ended.stderr);
}

#[test]
fn an_answer_that_is_cut_off_says_so() {
    let shell = Shell::new();
    tiny(&shell);
    let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}},
        "required": ["city"], "additionalProperties": false}"#;
    let ended = run(&shell, &["-n", "2", "-j", schema, "hi"]);
    assert!(ended.stderr.starts_with("warning: the answer ended before"), "{}", ended.stderr);
    assert!(ended.stderr.contains("-n ") && ended.stdout.starts_with('{'), "{}", ended.stderr);
    assert_eq!(run(&shell, &["--regex", "(yes|no)", "hi"]).stderr, "");
    assert_eq!(run(&shell, &["-n", "2", "hi"]).stderr, "");

    let ended = run(&shell, &["-c", "48", "--ignore-eos", "hi"]);
    assert!(ended.stderr.contains("the context of 48 positions is full; -c"), "{}", ended.stderr);
    assert!(ended.stderr.contains("4096"), "{}", ended.stderr);
    let long = ["run", "-m", "m.gguf", "-c", "16", "a prompt of more than 16 tokens"];
    shell.bad(&long, 1, &["the context 16 positions", "-c "]);
}

#[test]
fn a_full_conversation_is_told_each_time() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let arguments = ["chat", "-m", &model, "-c", "80", "--ignore-eos", "-s", "1", "--no-timings"];
    let ended = shell.feed(&arguments, "hello\nand more\n");
    let full = ended.stderr.find("is full; -c").unwrap_or_else(|| panic!("{}", ended.stderr));
    let again = ended.stderr.find("error: the conversation has").unwrap();
    assert!(full < again, "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("/clear begins").count(), 2, "{}", ended.stderr);
    assert!(ended.stderr[again..].contains("-c "), "{}", ended.stderr);
}

#[test]
fn a_file_without_a_template_is_told() {
    let shell = Shell::new();
    tiny(&shell);
    let mut bytes = std::fs::read(shell.path("m.gguf")).unwrap();
    let key = b"tokenizer.chat_template";
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[at + key.len() - 1] = b'X';
    std::fs::write(shell.path("m.gguf"), bytes).unwrap();
    let hint = run(&shell, &["-n", "1", "hi"]).stderr;
    assert_eq!(hint.lines().count(), 1, "{hint}");
    assert!(hint.contains("no chat template") && hint.contains("--raw"), "{hint}");
    assert_eq!(run(&shell, &["-n", "1", "--raw", "hi"]).stderr, "");
    let talk = shell.feed(&["chat", "-m", "m.gguf"], "/exit\n").stderr;
    assert!(talk.contains("no chat template") && talk.contains("`minfer run --raw`"), "{talk}");
}

/// Runs with standard output and standard error in one file.
fn together(command: &mut Command, shell: &Shell) -> String {
    let file = File::create(shell.path("out")).unwrap();
    let status = command.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
    assert!(status.success());
    std::fs::read_to_string(shell.path("out")).unwrap()
}

#[test]
fn events_break_into_no_line_of_an_answer() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let arguments = ["run", "-m", &model, "-s", "1", "-n", "9", "--ignore-eos", "hi"];
    let quiet = shell.run(&arguments);
    let mut command = shell.command();
    let text = together(command.args(arguments).arg("-v"), &shell);
    assert!(text.contains(&format!("\n{}", quiet.stdout)), "{text}");
    let rest = text.replacen(&quiet.stdout, "", 1);
    let mut events = 0;
    for line in rest.lines().filter(|line| !line.starts_with('[')) {
        let (seconds, event) =
            line.split_once(" s debug minfer").unwrap_or_else(|| panic!("{text}"));
        assert!(seconds.parse::<f64>().is_ok() && !event.contains('"'), "{line}");
        events += 1;
    }
    assert!(events > 3 && rest.contains("finished: sequence 0, reason length"), "{text}");
    // The library's own words stay whole where there is no answer to break into.
    let apart = shell.run(&[&arguments[..], &["-v"]].concat());
    assert_eq!(apart.stdout, quiet.stdout);
    assert!(apart.stderr.contains("placement all 2 layers on cpu"), "{}", apart.stderr);
}

#[test]
fn numbers_in_json_have_the_digits_that_mean_something() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let arguments =
        ["run", "-m", &model, "-n", "4", "--ignore-eos", "--logprobs", "3", "--json", "hi"];
    let text = shell.good(&arguments);
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let fractions: Vec<&str> = numbers.filter(|number| number.contains('.')).collect();
    assert!(fractions.len() > 12, "{text}");
    for number in fractions {
        let digits = number.replace('.', "");
        assert!(digits.trim_start_matches('0').len() <= 7, "{number}");
    }
}
