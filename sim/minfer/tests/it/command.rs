//! Each command that computes, on the simulated GPU.

use crate::shell::Shell;

const GPU: [&str; 2] = ["--device", "metal-sim"];

/// A home with a tiny model.
fn shell() -> (Shell, String) {
    let shell = Shell::new();
    let model = shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]);
    let model = shell.path(model.trim()).to_string_lossy().into_owned();
    (shell, model)
}

fn on_gpu<'a>(command: &'a str, model: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&[command, "-m", model], &GPU[..], rest].concat()
}

#[test]
fn devices_of_the_build_are_listed_and_others_refused_by_their_names() {
    let (shell, model) = shell();
    let listed = shell.good(&["devices"]);
    let line = listed.lines().find(|line| line.starts_with("metal-sim")).expect("a line");
    assert!(line.contains("Apple M1, simulated (unified memory)"), "{line}");
    let metal = ["run", "-m", &model, "--device", "metal", "hi"];
    shell.bad(&metal, 2, &["--device metal: not in this build, which has cpu", "metal-sim"]);
}

#[test]
fn a_run_says_where_it_is_and_what_its_launches_took() {
    let (shell, model) = shell();
    let run = on_gpu("run", &model, &["--temp", "0", "-n", "3", "--profile", "hi"]);
    let ended = shell.run(&run);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let first = lines.first().expect("a line");
    assert!(first.starts_with("[all 2 layers on metal: Apple M1, simulated, unified"), "{first}");
    assert!(first.contains("working set 5."), "{first}");
    let row = lines.iter().find(|line| line.starts_with("attention ")).expect("a row");
    let milliseconds: f64 = row.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(milliseconds > 0.0, "{row}");
    // The same text from the GPU's watched kernels, from both devices, and from the CPU.
    let text = ended.stdout;
    for more in [&["--sim-checked"][..], &["-ngl", "1"], &["--weight-copy", "--no-warm-up"]] {
        let run = on_gpu("run", &model, &[&["--temp", "0", "-n", "3", "hi"], more].concat());
        assert_eq!(shell.good(&run), text, "{more:?}");
    }
    let ended = shell.run(&on_gpu("run", &model, &["-ngl", "1", "-n", "1", "hi"]));
    assert!(ended.stderr.starts_with("[1 of 2 layers on metal, as asked for"), "{}", ended.stderr);
    let cpu = ["run", "-m", &model, "--device", "cpu", "--temp", "0", "-n", "3", "hi"];
    assert_eq!(shell.good(&cpu), text);
}

#[test]
fn settings_of_a_gpu_without_one_are_told() {
    let (shell, model) = shell();
    let run = ["run", "-m", &model, "--device", "cpu", "-n", "1", "--staging", "f32", "hi"];
    let told = shell.run(&run).stderr;
    assert!(told.contains("warning: --staging has no effect without a GPU"), "{told}");
    let run = ["run", "-m", &model, "--device", "cpu", "-n", "1", "--sim-checked", "hi"];
    let told = shell.run(&run).stderr;
    assert!(told.contains("--sim-checked has no effect without --device metal-sim"), "{told}");
    let run = on_gpu("run", &model, &["--exact", "--staging", "half", "-n", "1", "hi"]);
    shell.bad(&run, 2, &["--exact and --staging exclude each other"]);
}

#[test]
fn every_command_that_computes_takes_the_device() {
    let (shell, model) = shell();
    let explained = shell.good(&on_gpu("explain", &model, &["-ngl", "1"]));
    for part in ["metal: Apple M1, simulated", "attention_f16_f16_64", "attention.f16.f16"] {
        assert!(explained.contains(part), "no {part} in {explained}");
    }
    let launches = shell.good(&on_gpu("inspect", &model, &["--stage", "launches"]));
    assert!(launches.contains("attention_prefill") && launches.contains("why:"), "{launches}");
    let score = shell.good(&on_gpu("score", &model, &["--json", "some words"]));
    assert!(score.contains("logprob"), "{score}");
    let bench = on_gpu("bench", &model, &["-p", "4", "-n", "2", "-r", "1", "-o", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&shell.good(&bench)).unwrap();
    assert_eq!((&rows[0]["backends"], &rows[1]["n_gen"]), (&"metal".into(), &2.into()));
    let trace = on_gpu("run", &model, &["--trace", "nodes", "-n", "1", "hi"]);
    shell.good(&trace);
    let index = std::fs::read_to_string(shell.path("nodes/index.tsv")).unwrap();
    assert!(index.lines().count() > 10 && index.contains("attention"), "{index}");
}

#[test]
fn a_step_past_the_deadline_fails_with_its_last_launches() {
    let (shell, model) = shell();
    let long = "many words ".repeat(200);
    let run = on_gpu("run", &model, &["--gpu-timeout", "0.001", "--sim-checked", "-n", "1", &long]);
    shell.bad(&run, 1, &["passed its deadline", "last launches"]);
}

#[test]
fn more_than_the_working_set_is_refused_with_what_helps() {
    let (shell, model) = shell();
    // Five gigabytes of cache for a model of two small layers.
    let large = ["-c", "16777216", "-n", "1", "hi"];
    let parts = ["90 % of its working set", "-c N", "-ngl N", "--gpu-overcommit"];
    shell.bad(&on_gpu("run", &model, &large), 1, &parts);
}
