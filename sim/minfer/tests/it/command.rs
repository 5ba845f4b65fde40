//! Each command that computes, on the simulated GPU.

use metal_sim::Source;

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
    assert!(
        line.contains("Apple M1, simulated (unified memory, kernels compiled from source)"),
        "{line}"
    );
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

/// The kernels as a library.
fn library(shell: &Shell, leave_out: &str) -> String {
    let sources = minfer_backend_metal::modules().into_iter();
    let sources = sources.filter(|module| module.name != leave_out);
    let sources: Vec<Source> =
        sources.map(|module| Source { name: module.name.to_owned(), text: module.text }).collect();
    let path = shell.path(&format!("without-{leave_out}.metallib"));
    std::fs::write(&path, metal_sim::archive::pack(&sources)).unwrap();
    path.to_string_lossy().into_owned()
}

#[test]
fn kernels_come_from_a_library_that_is_named() {
    let (shell, model) = shell();
    let run = |more: &[&str]| {
        let words = [&["--temp", "0", "-n", "2", "hi"], more].concat();
        shell.run(&on_gpu("run", &model, &words))
    };
    let built_in = run(&[]);
    let given = run(&["--metallib", &library(&shell, "nothing")]);
    assert_eq!((given.status, given.stdout), (0, built_in.stdout), "{}", given.stderr);
    assert!(built_in.stderr.contains(", kernels compiled from source,"), "{}", built_in.stderr);
    assert!(given.stderr.contains("kernels of --metallib /"), "{}", given.stderr);
    let refused = |file: &str, parts: &[&str]| {
        let words = ["--metallib", file, "-n", "1", "hi"];
        shell.bad(&on_gpu("run", &model, &words), 1, parts);
    };
    let norms = library(&shell, "norms");
    refused(&norms, &["without-norms.metallib", "kernel rms_norm: ", "no such function"]);
    refused(&model, &["m.gguf is no library: ", "expected the line \"metal-sim archive\""]);
    refused("none.metallib", &["--metallib none.metallib", "No such file"]);
}

#[test]
fn a_trace_for_xcode_is_written_where_the_system_takes_it() {
    let (shell, model) = shell();
    let words = ["--metal-capture", "a.gputrace", "-n", "2", "hi"];
    let run = on_gpu("run", &model, &words);
    shell.bad(&run, 1, &["no trace in a.gputrace", "METAL_CAPTURE_ENABLED set to 1"]);
    let enabled = [("METAL_CAPTURE_ENABLED", "1")];
    let ended = shell.run_with(&run, &enabled);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let text = std::fs::read_to_string(shell.path("a.gputrace")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() > 10 && lines[0] == "metal-sim trace", "{text}");
    assert!(lines.iter().any(|line| line.starts_with("attention")), "{text}");
    let again = shell.run_with(&run, &enabled);
    assert_eq!(again.status, 1, "{}", again.stderr);
    assert!(
        again.stderr.contains("a file of this name, which is not replaced"),
        "{}",
        again.stderr
    );
}

#[test]
fn a_table_of_choices_changes_launches_and_no_text() {
    let (shell, model) = shell();
    let write = |name: &str, text: &str| std::fs::write(shell.path(name), text).unwrap();
    write("t.json", r#"{"tune": {"matmul.simdgroups": 4, "rms_norm.short_cols": 0}}"#);
    write("bad.json", "{\"tune\": {\n  \"matmul.simdgroups\": 3,\n  \"matmul.few_rows\": 99\n}}");
    let run = |more: &[&str]| {
        shell.good(&on_gpu("run", &model, &[&["--temp", "0", "-n", "3", "hi"], more].concat()))
    };
    assert_eq!(run(&["--tune", "t.json"]), run(&[]));
    let launches = |more: &[&str]| {
        shell.good(&on_gpu("inspect", &model, &[&["--stage", "launches"], more].concat()))
    };
    assert_ne!(launches(&["--tune", "t.json"]), launches(&[]));
    let words = ["--tune", "bad.json", "-n", "1", "hi"];
    let parts = ["--tune bad.json: line 3: expected matmul.few_rows from 1 to 8, found 99"];
    shell.bad(&on_gpu("run", &model, &words), 2, &parts);
}

#[test]
fn the_device_tests_itself() {
    let (shell, _) = shell();
    let parts = ["--parts", "cases,models,speed", "--every", "400"];
    let out = shell.good(&[&["self-test"], &GPU[..], &parts].concat());
    assert!(out.contains("passed; everything is in minfer-self-test.json"), "{out}");
    let text = std::fs::read_to_string(shell.path("minfer-self-test.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(report["cases"]["rounded"].as_u64().unwrap() > 0, "{report}");
    assert!(!report["speed"].as_array().unwrap().is_empty(), "{report}");
    // What is found is what --tune reads.
    shell.good(
        &[
            &["self-test"],
            &GPU[..],
            &[
                "--parts",
                "cases",
                "--every",
                "900",
                "--tune",
                "minfer-self-test.json",
                "--report",
                "other.json",
            ],
        ]
        .concat(),
    );
}
