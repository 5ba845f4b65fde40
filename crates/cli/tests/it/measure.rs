//! `bench` and `devices`.

use crate::shell::Shell;

fn model(shell: &Shell) -> String {
    shell.good(&["synth", "tiny-llama", "-q", "q4_0", "-o", "m.gguf"]).trim().to_owned()
}

#[test]
fn bench_prints_tables_in_every_form() {
    let shell = Shell::new();
    let model = model(&shell);
    let arguments = ["bench", &model, "-p", "16,32", "-n", "4", "-d", "0,64", "-r", "2"];
    let table = shell.good(&arguments);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 2 + 6, "{table}");
    assert!(lines[2].contains(" MB |"), "{table}");
    let hint = shell.run(&["bench", &model, "-p", "8", "-n", "2,3", "-r", "1"]).stderr;
    assert_eq!(hint.matches("minfer devices --measure").count(), 1, "{hint}");
    let only = shell.run(&["bench", &model, "-p", "8", "-n", "0", "-r", "1"]);
    assert_eq!(only.stderr, "", "prompts have no share of the peak");
    assert!(lines[2].starts_with("| llama 2M Q4_0 "), "{table}");
    assert!(lines[0].contains("model") && lines[0].contains("t/s") && lines[0].contains("GB/s"));
    assert_eq!(lines[0].len(), lines[1].len(), "{table}");
    assert!(lines.iter().all(|line| line.matches('|').count() == 12), "{table}");
    for name in [" pp16 ", " pp32 ", " tg4 ", " pp32 @ d64 ", " tg4 @ d64 "] {
        assert!(table.contains(name), "{name}: {table}");
    }
    let rows = shell.json(&[&arguments[..], &["-o", "json"]].concat());
    let row = &rows.as_array().unwrap()[3];
    assert_eq!((&row["n_prompt"], &row["n_depth"]), (&16.into(), &64.into()));
    assert_eq!(row["samples_ns"].as_array().unwrap().len(), 2);
    assert!(row["avg_ts"].as_f64().unwrap() > 0.0);
    let csv = shell.good(&["bench", &model, "-p", "8", "-n", "0", "-r", "1", "-o", "csv"]);
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("build_version,") && lines[1].starts_with('"'), "{csv}");
    shell.bad(&["bench", &model, "-p", "0", "-n", "0"], 2, &["nothing to measure"]);
}

#[test]
fn a_measured_peak_shows_up_in_reports() {
    let shell = Shell::new();
    let model = model(&shell);
    assert_eq!(shell.json(&["devices", "--json"])["bytes_per_second"], serde_json::Value::Null);
    let ended = shell.run(&["devices", "--measure", "-t", "2"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("cpu") && ended.stdout.contains("GB/s"), "{}", ended.stdout);
    let speed = shell.json(&["devices", "--json"])["bytes_per_second"].as_f64().unwrap();
    assert!((1e8..1e13).contains(&speed), "{speed}");
    let run = ["run", "-m", &model, "--json", "-n", "3", "--ignore-eos", "hello"];
    let share = shell.json(&run)["timings"]["share_of_peak"].as_f64().unwrap();
    assert!(share > 0.0, "{share}");
    let measured = shell.run(&["bench", &model, "-p", "0", "-n", "2", "-r", "1"]);
    assert_eq!((measured.status, measured.stderr.as_str()), (0, ""));
    assert!(measured.stdout.contains("% |"), "{}", measured.stdout);
}

#[test]
fn perplexity_has_labels_and_names_the_flags_that_help() {
    let shell = Shell::new();
    let model = model(&shell);
    shell.write("text.txt", &"some-words,-and-some-more-of-them.-".repeat(4));
    let short = ["perplexity", "-m", &model, "-f", "text.txt"];
    shell.bad(&short, 1, &["512", "140", "-c"]);
    shell.bad(&["perplexity", "-m", &model], 2, &["no text", "-f FILE"]);
    let text = shell.good(&[&short[..], &["-c", "64", "--kl"]].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "chunk  loss (nats a token)  perplexity so far");
    assert!(lines[1..3].iter().all(|line| line.len() == lines[0].len()), "{text}");
    assert!(lines[3].starts_with("perplexity ") && lines[3].ends_with(" over 62 tokens"), "{text}");
    assert!(text.contains("KL divergence from the exact path, nats a token: mean "), "{text}");
}
