//! Help, settings from every source, and messages about what is wrong.

use expect_test::expect_file;

use crate::shell::Shell;

#[test]
fn help_is_as_it_was() {
    let shell = Shell::new();
    expect_file!["../data/help.txt"].assert_eq(&shell.good(&["--help"]));
    expect_file!["../data/help-run.txt"].assert_eq(&shell.good(&["run", "-h"]));
    expect_file!["../data/help-tokenize.txt"].assert_eq(&shell.good(&["tokenize", "--help"]));
}

#[test]
fn the_version_has_three_spellings() {
    let shell = Shell::new();
    let version = env!("CARGO_PKG_VERSION");
    for arguments in [&["--version"][..], &["-V"], &["version"]] {
        assert!(shell.good(arguments).starts_with(&format!("minfer {version}")), "{arguments:?}");
    }
    assert_eq!(shell.json(&["version", "--json"])["version"], version);
}

#[test]
fn nearer_sources_win() {
    let shell = Shell::new().with("MINFER_TOP_K", "7").with("LLAMA_ARG_THREADS", "3");
    shell.write(".config/minfer/config.toml", "top-k = 5\ntop-p = 0.5\nmmap = off\n");
    let config = shell.json(&["config", "--json"]);
    let setting = |name: &str| {
        let entry = &config[name];
        (entry["value"].as_str().unwrap_or_default(), entry["source"].as_str().unwrap())
    };
    assert_eq!(setting("top-k"), ("7", "$MINFER_TOP_K"));
    assert_eq!(setting("threads"), ("3", "$LLAMA_ARG_THREADS"));
    assert_eq!(setting("min-p"), ("0.05", "default"));
    let (value, source) = setting("top-p");
    assert_eq!(value, "0.5");
    assert!(source.ends_with("config.toml:2"), "{source}");
    assert_eq!(setting("mmap").0, "false");
    let hint = shell.run(&["config"]).stderr;
    assert_eq!(hint, "hint: LLAMA_ARG_THREADS is read; its name here is MINFER_THREADS\n");

    let shell = shell.with("MINFER_CONFIG_FILE", "other.toml");
    shell.write("other.toml", "top-p = 0.25");
    assert_eq!(shell.json(&["config", "--json"])["top-p"]["value"], "0.25");
    let named = shell.json(&["config", "--json", "--config-file", "other.toml"]);
    assert_eq!(named["config-file"]["source"], "command line");
}

#[test]
fn what_is_wrong_with_the_command_line_is_said() {
    let shell = Shell::new();
    shell.bad(&["rum"], 2, &["rum", "run"]);
    shell.bad(&["run", "--tempp", "1", "hi"], 2, &["--tempp", "--temp"]);
    shell.bad(&["run", "--temp", "hot", "hi"], 2, &["--temp \"hot\"", "expected a number"]);
    shell.bad(&["run", "--mmap=perhaps", "hi"], 2, &["expected true or false"]);
    shell.bad(&["run", "-ngl"], 2, &["--gpu-layers"]);
    shell.bad(&["run", "-ctk", "q3", "hi"], 2, &["q3", "f16"]);
    shell.bad(&["run", "--regex", "a", "-j", "{}", "hi"], 2, &["exclude each other"]);
    shell.bad(&["run", "--grammar", "root ::= \"a\"", "hi"], 2, &["Lark"]);
    shell.bad(&["completions", "csh"], 2, &["csh", "bash"]);
    shell.bad(&["synth", "gpt-5"], 2, &["gpt-5", "tiny-llama"]);
    shell.bad(&["bench", "-p", "many"], 2, &["--n-prompt \"many\""]);
    let empty = Shell::new().run(&[]);
    assert_eq!((empty.status, empty.stdout.is_empty()), (2, true));
}

#[test]
fn what_is_wrong_with_other_sources_names_them() {
    let shell = Shell::new().with("MINFER_TOP_P", "2");
    shell.bad(&["run", "hi"], 2, &["$MINFER_TOP_P", "from 0 to 1"]);
    let shell = Shell::new();
    shell.write("bad.toml", "top-p = 0.5\ntop-q = 1\n");
    shell.bad(&["run", "hi", "--config-file", "bad.toml"], 2, &["bad.toml", "line 2", "`top-q`"]);
    shell.bad(&["run", "hi", "--config-file", "none.toml"], 2, &["none.toml"]);
}

#[test]
fn completions_and_the_page_of_the_manual_know_the_flags() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(shell.good(&["completions", name]).contains("top-k"), "{name}");
    }
    let page = shell.good(&["man"]);
    assert!(page.contains(".TH minfer 1") && page.contains("MINFER RUN"), "{page}");
    assert!(page.contains("\\-\\-ctx\\-size"));
}

#[test]
fn pages_of_the_documentation_are_tables() {
    let shell = Shell::new();
    for (page, word) in [
        ("ops", "| `rms_norm` | primitive |"),
        ("quants", "| `q4_k` | 12 | 256 | 144 | 4.5 | yes |"),
        ("models", "| `gemma3` |"),
        ("support", "| matmul |"),
        ("flags", "`-ngl`"),
        ("limits", "| HEAD_BYTES |"),
    ] {
        let text = shell.good(&["docs", page]);
        assert!(text.starts_with("# ") && text.contains(word), "{page}: {text}");
    }
    assert!(!shell.good(&["--help"]).contains("docs"), "a hidden command");
}
