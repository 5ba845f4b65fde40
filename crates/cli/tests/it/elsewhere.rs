//! What is typed by those who come from other programs, or mistype.

use crate::shell::Shell;

fn tiny(shell: &Shell) -> String {
    shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]).trim().to_owned()
}

#[test]
fn flags_of_llama_cpp_are_told_or_refused() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let needless = "-fa on -cnv -st --jinja --no-display-prompt --log-disable --no-warmup";
    let mut line = vec!["run", "-m", &model, "--render"];
    line.extend(needless.split(' '));
    line.push("hi");
    let ended = shell.run(&line);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("hi") && !ended.stdout.contains("on"), "{}", ended.stdout);
    for flag in needless.split(' ').filter(|word| word.starts_with('-')) {
        let hint = format!("hint: {flag} is not needed: ");
        assert_eq!(ended.stderr.matches(&hint).count(), 1, "{flag}: {}", ended.stderr);
    }
    shell.bad(&["run", "-i", "hi"], 2, &["error: -i: ", "`minfer chat`"]);
    shell.bad(&["run", "--context-shift", "hi"], 2, &["--context-shift", "-c "]);
    shell.bad(&["chat", "--raw"], 2, &["--raw", "minfer run --raw"]);
    shell.bad(&["tokenize", "-ngl", "9", "hi"], 2, &["`tokenize` has no -ngl (--gpu-layers)"]);
}

#[test]
fn only_what_is_near_is_suggested() {
    let shell = Shell::new();
    shell.bad(&["rn"], 2, &["'run'"]);
    shell.bad(&["chta"], 2, &["'chat'"]);
    shell.bad(&["run", "--tmep", "1", "hi"], 2, &["'--temp'"]);
    for line in [&["run", "--lora", "a", "hi"][..], &["xylophone"]] {
        let ended = shell.run(line);
        assert_eq!(ended.status, 2, "{line:?}");
        assert!(!ended.stderr.contains("similar"), "{line:?}: {}", ended.stderr);
    }
}

#[test]
fn a_prompt_may_begin_with_a_dash() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let line = ["run", "-m", &model, "- one\n- two", "--render", "--raw"];
    assert_eq!(shell.good(&line), "- one\n- two");
    shell.bad(
        &["run", "-m", &model, "--one", "two"],
        2,
        &["'--one'", "'-- --one'", "minfer run [OPTIONS] [PROMPT]..."],
    );
}

#[test]
fn the_seed_of_a_random_answer_gives_it_again() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let line = ["run", "-m", &model, "-n", "8", "--ignore-eos", "hi"];
    let random = shell.run(&line);
    let (_, seed) = random.stderr.split_once(" | seed ").unwrap();
    let (seed, _) = seed.split_once(" | ").unwrap();
    let again = shell.run(&[&line[..], &["-s", seed]].concat());
    assert_eq!(again.stdout, random.stdout);
    let json = shell.json(&[&line[..], &["--json"]].concat());
    let seed = json["seed"].as_u64().unwrap();
    assert!(seed < 1 << 32, "{seed}");
    let again = shell.json(&[&line[..], &["--json", "-s", &seed.to_string()]].concat());
    assert_eq!((&again["tokens"], &again["seed"]), (&json["tokens"], &json["seed"]));
    let greedy = shell.run(&[&line[..], &["--temp", "0"]].concat());
    assert!(!greedy.stderr.contains("seed"), "nothing random: {}", greedy.stderr);
}

#[test]
fn bench_takes_lists_as_llama_bench_does() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let line = ["bench", &model, "-p", "8,16", "-n", "0", "-r", "1"];
    let table = shell.good(&[&line[..], &["-pg", "8,4", "-t", "1,2"]].concat());
    let rows: Vec<Vec<&str>> =
        table.lines().skip(2).map(|row| row.split('|').map(str::trim).collect()).collect();
    let found: Vec<(&str, &str)> = rows.iter().map(|row| (row[5], row[8])).collect();
    let tests = ["pp8", "pp16", "pp8+tg4"];
    let expected: Vec<(&str, &str)> =
        ["1", "2"].iter().flat_map(|threads| tests.map(|test| (*threads, test))).collect();
    assert_eq!(found, expected, "{table}");
    let rows = shell.json(&[&line[..], &["-pg", "8,4", "-o", "json"]].concat());
    let row = &rows[2];
    assert_eq!((&row["n_prompt"], &row["n_gen"]), (&8.into(), &4.into()));
    let (count, time) = (12.0, row["samples_ns"][0].as_f64().unwrap() / 1e9);
    let speed = row["samples_ts"][0].as_f64().unwrap();
    assert!((speed * time / count - 1.0).abs() < 1e-3, "{row}");
    shell.bad(&[&line[..], &["-pg", "8"]].concat(), 2, &["--prompt-gen \"8\"", "two numbers"]);
    shell.bad(&[&line[..], &["-t", "1,0"]].concat(), 2, &["--threads 0", "from 1 to 1024"]);
}

#[test]
fn a_filter_of_events_that_is_none_is_told() {
    let shell = Shell::new();
    let model = tiny(&shell);
    let ended = shell.run(&["tokenize", "-m", &model, "--log", "a=b=c", "hi"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("warning: --log \"a=b=c\": "), "{}", ended.stderr);
    assert!(ended.stderr.contains("minfer_engine=trace"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn the_version_is_told_whatever_the_configuration_is() {
    let shell = Shell::new();
    shell.write(".config/minfer/config.toml", "nonsense\n");
    let ended = shell.run(&["version"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("minfer ") && ended.stderr.contains("config.toml:1"));
    shell.bad(&["devices"], 2, &["config.toml:1"]);
}

#[test]
fn synth_writes_over_no_file_unasked() {
    let shell = Shell::new();
    shell.write("m.gguf", "mine");
    let line = ["synth", "tiny-llama", "-q", "q8_0", "-o", "m.gguf"];
    shell.bad(&line, 2, &["m.gguf is there", "--force", "-o FILE"]);
    assert_eq!(std::fs::read(shell.path("m.gguf")).unwrap(), b"mine");
    shell.good(&[&line[..], &["--force"]].concat());
    assert!(std::fs::read(shell.path("m.gguf")).unwrap().starts_with(b"GGUF"));
    shell.bad(&["synth", "tiny-llama", "-o", "-"], 2, &["--out -", "a path"]);
    assert!(!shell.path("-").exists());
}

#[test]
fn completions_and_the_manual_leave_out_what_help_does() {
    let shell = Shell::new();
    for line in [&["completions", "bash"][..], &["completions", "fish"], &["man"]] {
        let text = shell.good(line);
        assert!(text.contains("perplexity") && !text.contains("generated page"), "{line:?}");
        assert!(!text.contains("minfer__docs") && !text.contains("minfer__subcmd__docs"));
    }
}
