//! Help, settings from every source, and messages about what is wrong.

use expect_test::expect_file;

use crate::shell::Shell;

#[test]
fn help_is_as_it_was() {
    let shell = Shell::new();
    expect_file!["../data/help.txt"].assert_eq(&shell.good(&["--help"]));
    expect_file!["../data/help-run.txt"].assert_eq(&shell.good(&["run", "-h"]));
    expect_file!["../data/help-tokenize.txt"].assert_eq(&shell.good(&["tokenize", "--help"]));
    assert!(!shell.good(&["run", "--help"]).contains("Turn off"));
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
    assert_eq!(config["grammar"]["source"], "unset");
    let (value, source) = setting("top-p");
    assert_eq!(value, "0.5");
    assert!(source.ends_with("config.toml:2"), "{source}");
    assert_eq!(setting("mmap").0, "false");
    let ended = shell.run(&["config"]);
    for line in ["typical 1 default", "grammar unset", "stop unset", "top-k 7 $MINFER_TOP_K"] {
        let words = |line: &str| {
            line.replace(['=', '#'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert!(ended.stdout.lines().any(|found| words(found) == line), "{line}: {}", ended.stdout);
    }
    // What is shown is a configuration file that says the same.
    let again = Shell::new();
    again.write("shown.toml", &ended.stdout);
    let again = again.json(&["config", "--json", "--config-file", "shown.toml"]);
    for (name, setting) in again.as_object().unwrap().iter().filter(|(name, _)| *name != "json") {
        let is_file = name == "config-file";
        assert!(is_file || setting["value"] == config[name]["value"], "{name}: {setting}");
    }
    let hint = ended.stderr;
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
    shell.bad(&["run", "--temp", "hot", "hi"], 2, &["--temp \"hot\"", "number of at least 0\n"]);
    shell.bad(&["run", "--temp", "-1", "hi"], 2, &["--temp \"-1\"", "number of at least 0\n"]);
    shell.bad(&["run", "--mmap=perhaps", "hi"], 2, &["expected true or false"]);
    shell.bad(&["run", "-ngl"], 2, &["--gpu-layers"]);
    shell.bad(&["run", "-ctk", "q3", "hi"], 2, &["q3", "f16"]);
    shell.bad(&["run", "--regex", "a", "-j", "{}", "hi"], 2, &["exclude each other"]);
    shell.bad(&["run", "--grammar", "root ::= \"a\"", "hi"], 2, &["Lark"]);
    shell.bad(&["completions", "csh"], 2, &["csh", "bash"]);
    shell.bad(&["synth", "gpt-5"], 2, &["gpt-5", "tiny-llama"]);
    shell.bad(&["bench", "-p", "many"], 2, &["--n-prompt \"many\""]);
    shell.bad(&["run", "--device", "cuda", "hi"], 2, &["error: --device cuda: not in", "cpu"]);
    shell.bad(&["explain", "--device", "metal"], 2, &["error: --device metal: not in", "cpu"]);
    let empty = Shell::new().run(&[]);
    assert_eq!((empty.status, empty.stdout.is_empty()), (2, true));
}

#[test]
fn words_of_other_programs_lead_to_the_command() {
    let shell = Shell::new();
    for (word, command) in [
        ("generate", "minfer run"),
        ("complete", "minfer run"),
        ("download", "minfer pull"),
        ("help", "minfer --help"),
        ("serve", "no server"),
        ("my model.gguf", "minfer run -m"),
        ("What is a llama?", "minfer run PROMPT"),
    ] {
        shell.bad(&[word], 2, &[word, command]);
    }
    let ended = shell.run(&["show"]);
    assert!(!ended.stderr.contains("score"), "one tip, not two: {}", ended.stderr);
}

#[test]
fn of_settings_that_exclude_each_other_none_is_dropped_silently() {
    let shell = Shell::new();
    for (arguments, first, second) in [
        (&["run", "-p", "a", "b"][..], "-p/--prompt", "argument PROMPT"),
        (&["run", "-f", "a.txt", "b"], "-f/--file", "argument PROMPT"),
        (&["run", "-p", "a", "-f", "b"], "-p/--prompt", "-f/--file"),
        (&["run", "--messages", "a", "b"], "--messages", "argument PROMPT"),
        (&["run", "-m", "a.gguf", "-hf", "x/y", "b"], "-m/--model", "-hf/--hf-repo"),
        (&["bench", "a.gguf", "-m", "b.gguf"], "-m/--model", "argument MODEL"),
        (&["bench", "a.gguf", "-hf", "x/y"], "-hf/--hf-repo", "argument MODEL"),
        (&["score", "-f", "a.txt", "b"], "-f/--file", "argument TEXT"),
        (&["run", "--raw", "--messages", "a"], "--raw", "--messages"),
        (&["run", "--raw", "-sys", "a", "b"], "--raw", "-sys/--system-prompt"),
    ] {
        shell.bad(arguments, 2, &[first, second, "exclude each other"]);
    }
    // Between sources the nearest one counts, as everywhere.
    let shell = Shell::new().with("MINFER_HF_REPO", "x/y").with("MINFER_PROMPT", "far");
    shell.bad(&["run", "-m", "none.gguf", "near"], 2, &["none.gguf", "no such file"]);
    let model = shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]);
    let render = ["run", "-m", model.trim(), "--render"];
    let text = shell.good(&[&render[..], &["near"]].concat());
    assert!(text.contains("near") && !text.contains("far"), "{text}");
    assert!(shell.good(&render).contains("far"));
    let shell = shell.with("MINFER_FILE", "a.txt");
    shell.bad(&render, 2, &["$MINFER_PROMPT", "$MINFER_FILE", "exclude each other"]);
}

#[test]
fn config_shows_what_other_commands_refuse() {
    let shell = Shell::new().with("MINFER_TOP_P", "2");
    let file = ".config/minfer/config.toml";
    shell.write(file, "top-k = 5\nfoo = 3\nthread = 4\nmin-p = high\nseed\n");
    shell.bad(&["run", "hi"], 2, &["config.toml:2: ", "`foo`", "minfer config"]);
    let ended = shell.run(&["config"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("top-k ") && ended.stdout.contains("config.toml:1\n"));
    for part in [
        "config.toml:2: unknown key `foo`",
        "config.toml:3: unknown key `thread`: did you mean `threads`?",
        "config.toml:4: min-p \"high\": expected a number from 0 to 1",
        "config.toml:5: expected `key = value`, found `seed`",
        "$MINFER_TOP_P \"2\": expected a number from 0 to 1",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    assert_eq!(shell.json(&["config", "--json"])["min-p"]["source"], "default");
    let gone = shell.run(&["config", "--config-file", "none.toml"]);
    assert_eq!(gone.status, 0, "{}", gone.stderr);
    assert!(gone.stderr.contains("none.toml"), "{}", gone.stderr);
}

#[test]
fn what_is_wrong_with_other_sources_names_them() {
    let shell = Shell::new().with("MINFER_TOP_P", "2");
    shell.bad(&["run", "hi"], 2, &["$MINFER_TOP_P", "from 0 to 1"]);
    let shell = Shell::new();
    shell.write("bad.toml", "top-p = 0.5\ntop-q = 1\n");
    shell.bad(
        &["run", "hi", "--config-file", "bad.toml"],
        2,
        &["bad.toml:2: ", "`top-q`", "`top-k`"],
    );
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
