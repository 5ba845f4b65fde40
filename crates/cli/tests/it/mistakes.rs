//! Command lines that mean something else than they say: refused or told, never taken silently.

use std::process::Command;

use crate::shell::{Ended, Shell, smollm2};

#[test]
fn a_model_in_the_place_of_a_text_is_refused_with_the_line_to_type() {
    let shell = Shell::new();
    shell.write("my model.gguf", "");
    shell.write("text.txt", "");
    for (arguments, line) in [
        (&["run", "smollm2", "hi", "there"][..], "`minfer run -m smollm2 \"hi there\"`"),
        (&["run", "./one.gguf", "hi"], "`minfer run -m ./one.gguf \"hi\"`"),
        (&["run", "my model.gguf"], "my model.gguf"),
        (&["run", "Qwen3-0.6B"], "`minfer run -m Qwen3-0.6B PROMPT`"),
        (&["run", "Qwen/Qwen3-4B-GGUF", "hi"], "-m Qwen/Qwen3-4B-GGUF"),
        (&["run", "hf.co/user/repo:Q4_0", "hi"], "-m hf.co/user/repo:Q4_0"),
        (&["tokenize", "smollm2", "hi"], "`minfer tokenize -m smollm2 \"hi\"`"),
        (&["score", "one.gguf"], "`minfer score -m one.gguf TEXT`"),
        (&["chat", "smollm2"], "minfer chat -m smollm2"),
        (&["perplexity", "one.gguf"], "minfer perplexity -m one.gguf"),
        (&["perplexity", "no.txt"], "minfer perplexity -f FILE"),
        (&["perplexity", "text.txt"], "minfer perplexity -f text.txt"),
        (&["chat", "Hello!"], "minfer run PROMPT"),
    ] {
        shell.bad(arguments, 2, &[line]);
    }
    // Words that are text, and a model that is named beside them.
    let model = tiny(&shell);
    let fixed = ["run", "-m", &model, "--render"];
    assert!(shell.good(&[&fixed[..], &["smollm2"]].concat()).contains("smollm2"));
}

#[test]
fn a_word_that_may_be_a_model_is_a_text_with_a_hint() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let shell = shell.with("MINFER_MODEL", model).with("MINFER_RENDER", "yes");
    for (word, part) in [
        ("llama3.2", "`minfer run -m llama3.2 \"hi\"`; the catalog has llama3.2-1b"),
        ("mistral:latest", "-m mistral:latest"),
        ("some-7b", "-m some-7b"),
        ("qwen3", "the catalog has qwen3-0.6b and "),
    ] {
        let ended = shell.run(&["run", word, "hi"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert!(ended.stdout.contains(&format!("{word} hi")), "{}", ended.stdout);
        assert!(
            ended.stderr.starts_with("hint: ") && ended.stderr.contains(part),
            "{word}: {}",
            ended.stderr
        );
    }
    for word in ["and/or", "Note:", "12:30", "b2b", "file.txt", "What", "a", "3.2", "model"] {
        let ended = shell.run(&["run", word, "hi"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{word}");
    }
}

fn tiny(shell: &Shell) -> String {
    shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]).trim().to_owned()
}

fn run(shell: &Shell, arguments: &[&str]) -> Ended {
    let fixed = ["run", "-m", "m.gguf", "-s", "1", "-n", "1", "--no-timings"];
    let ended = shell.run(&[&fixed[..], arguments, &["hi"]].concat());
    assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
    ended
}

#[test]
fn settings_without_effect_are_named() {
    let shell = Shell::new();
    tiny(&shell);
    let first = "no effect: --temp 0 always takes the most probable token\n";
    for (flags, warning) in [
        (&["--logprobs", "2"][..], "--logprobs has no effect: only --json shows them\n"),
        (
            &["--mirostat", "2", "--top-k", "5", "--min-p", "0.1", "--typical", "0.5"],
            "--top-k, --min-p and --typical have no effect: --mirostat 2 takes their place\n",
        ),
        (&["--mirostat-lr", "0.2"], "--mirostat-lr has no effect: --mirostat is off\n"),
        (&["--mirostat", "2", "--temp", "0"], &format!("--mirostat has {first}")),
        (&["--temp", "0", "--top-p", "0.5"], &format!("--top-p has {first}")),
    ] {
        assert_eq!(run(&shell, flags).stderr, format!("warning: {warning}"), "{flags:?}");
    }
    for flags in [
        &["--logprobs", "2", "--json"][..],
        &["--mirostat", "2", "--temp", "1", "--mirostat-ent", "3"],
        &["--mirostat", "2", "--top-k", "40"],
        &["--temp", "0", "--repeat-penalty", "1.1"],
        &["--temp", "0", "--typical", "0.5", "--top-k", "5"],
        &["--exact", "-ctk", "f32"],
    ] {
        assert_eq!(run(&shell, flags).stderr, "", "{flags:?}");
    }
    let exact = ["run", "-m", "m.gguf", "--exact", "-ctk", "q8_0", "hi"];
    shell.bad(&exact, 2, &["--exact and -ctk/--cache-type-k exclude each other"]);
    shell.bad(&["score", "--exact", "-ctv", "f16", "hi"], 2, &["-ctv/--cache-type-v"]);
    // What stands in a file gives way.
    shell.write("c.toml", "cache-type-k = q8_0\ntop-k = 5\n");
    assert_eq!(run(&shell, &["--config-file", "c.toml", "--exact", "--mirostat", "2"]).stderr, "");
}

#[test]
fn tools_that_the_template_leaves_out_are_told() {
    let shell = Shell::new();
    tiny(&shell);
    let tool = r#"[{"type": "function", "function": {"name": "weather", "parameters": {}}}]"#;
    shell.write("tools.json", tool);
    let without = ["--tools", "tools.json", "--chat-template", "{{ messages[0].content }}"];
    let ended = run(&shell, &without);
    assert!(ended.stderr.starts_with("warning: --tools has no effect: "), "{}", ended.stderr);
    let with = "{% for tool in tools or [] %}{{ tool.function.name }}{% endfor %}x";
    assert_eq!(run(&shell, &["--tools", "tools.json", "--chat-template", with]).stderr, "");
    shell.write("messages.json", r#"[{"role": "user", "content": "hi"}]"#);
    let wrong = ["run", "-m", "m.gguf", "hi", "--tools"];
    shell.bad(&[&wrong[..], &["messages.json"]].concat(), 2, &["messages.json", "--messages"]);
    // Standard input that a flag takes does not follow the prompt too.
    let both =
        "{% for tool in tools %}{{ tool.function.name }}{% endfor %}: {{ messages[0].content }}";
    let render = ["run", "-m", "m.gguf", "--render", "--tools", "-", "--chat-template", both, "hi"];
    assert_eq!(shell.feed(&render, tool).stdout, "weather: hi");
    shell.write("words.json", r#"["weather"]"#);
    shell.bad(&[&wrong[..], &["words.json"]].concat(), 1, &["words.json", "found \"weather\""]);
}

#[test]
fn the_names_of_a_model_and_of_its_file_differ_in_one_hint() {
    let (shell, model) = (Shell::new(), smollm2());
    let arguments = ["run", "-m", &model, "--render", "hi"];
    let ended = shell.run(&arguments);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("hint: -m smollm2 is this file with"), "{}", ended.stderr);
    for given in [&["--temp", "1"][..], &["-sys", "Be brief."]] {
        assert_eq!(shell.run(&[&arguments[..], given].concat()).stderr, "", "{given:?}");
    }
    tiny(&shell);
    assert_eq!(shell.run(&["run", "-m", "m.gguf", "--render", "hi"]).stderr, "");
}

#[test]
fn bench_beyond_the_trained_context_is_told() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let long = ["bench", &model, "-p", "0", "-n", "1", "-d", "4096", "-r", "1", "-o", "csv"];
    let ended = shell.run(&long);
    assert_eq!((ended.status, ended.stderr.lines().count()), (0, 1), "{}", ended.stderr);
    assert!(ended.stderr.contains("4099 positions, more than the 4096"), "{}", ended.stderr);
    let short = shell.run(&["bench", &model, "-p", "8", "-n", "0", "-r", "1"]);
    assert_eq!(short.stderr, "");
}

#[test]
fn variables_that_are_no_settings_are_told_once() {
    let shell = Shell::new().with("MINFER_TMEP", "0").with("MINFER_NO_MMAP", "1");
    let shell = shell.with("MINFER_XYZZY", "1");
    tiny(&shell);
    let warnings = "\
warning: MINFER_NO_MMAP is no setting: MINFER_MMAP=false is
warning: MINFER_TMEP is no setting: did you mean MINFER_TEMP?
warning: MINFER_XYZZY is no setting: `minfer config --json` shows the variables
";
    assert_eq!(run(&shell, &[]).stderr, warnings);
    let help = shell.good(&["run", "--help"]);
    assert!(help.contains("[env: MINFER_MMAP=false]"), "{help}");
}

#[test]
fn config_tells_what_the_model_recommends() {
    let first = Shell::new().good(&["config"]);
    assert!(first.lines().next().unwrap().ends_with("a part of TOML"), "{first}");
    let line = |shell: &Shell, name: &str| {
        let text = shell.good(&["config"]);
        let found = text.lines().find(|line| line.trim_start_matches("# ").starts_with(name));
        found
            .unwrap_or_else(|| panic!("{name}: {text}"))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let shell = Shell::new();
    let taken = "# temp = 0.8 # default; `run` and `chat` take \"0.2\", recommended for smollm2";
    assert_eq!(line(&shell, "temp "), taken);
    assert!(
        line(&shell, "top-k ").ends_with("default; the model's recommendation comes before it")
    );
    assert_eq!(line(&shell, "batch-size "), "batch-size = 512 # default");
    let json = shell.json(&["config", "--json"]);
    assert_eq!(json["temp"]["recommended"]["value"], "0.2");
    assert!(json["top-k"].get("recommended").is_none(), "{json}");
    let shell = shell.with("MINFER_TEMP", "1").with("MINFER_MODEL", "qwen3-4b");
    assert_eq!(line(&shell, "temp "), "temp = 1 # $MINFER_TEMP");
    assert!(line(&shell, "top-k ").ends_with("take \"20\", recommended for qwen3-4b"));
    let shell = shell.with("MINFER_MODEL", "some.gguf");
    assert!(
        line(&shell, "top-k ").ends_with("default; the model's recommendation comes before it")
    );
}

/// Standard input of a process that this one starts, which stays open.
fn open_pipe(command: &mut Command) -> (Ended, std::process::ChildStdin) {
    use std::process::Stdio;
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let open = child.stdin.take().unwrap();
    (crate::shell::ended(child.wait_with_output().unwrap()), open)
}

#[test]
fn standard_input_follows_the_prompt() {
    let shell = Shell::new().with("MINFER_RENDER", "yes").with("MINFER_RAW", "yes");
    let model = tiny(&shell);
    let given = ["run", "-m", &model, "Sum up:"];
    assert_eq!(shell.feed(&given, "one\ntwo\n").stdout, "Sum up:\n\none\ntwo\n");
    let flag = ["run", "-m", &model, "-e", "-p", "Sum\\nup:"];
    assert_eq!(shell.feed(&flag, "a\\nb").stdout, "Sum\nup:\n\na\\nb");
    assert_eq!(shell.feed(&["run", "-m", &model, ""], "one").stdout, "one");
    for nothing in ["", " \n\n"] {
        assert_eq!(shell.feed(&given, nothing).stdout, "Sum up:");
    }
    // A file that is named stands alone.
    shell.write("f.txt", "from a file");
    assert_eq!(shell.feed(&["run", "-m", &model, "-f", "f.txt"], "more").stdout, "from a file");
    let (ended, _open) = open_pipe(shell.command().args(given));
    assert_eq!((ended.status, ended.stdout.as_str()), (0, "Sum up:"));
    assert!(
        ended.stderr.starts_with("warning: on standard input nothing came"),
        "{}",
        ended.stderr
    );
}
