//! `self-test` and `trace diff`.

use crate::shell::Shell;

#[test]
fn a_device_is_tested_and_the_report_says_what_was_found() {
    let shell = Shell::new();
    let parts = "kernels,cases,models,variants";
    let arguments = ["self-test", "--device", "cpu", "-t", "1", "--parts", parts, "--every", "100"];
    let out = shell.good(&arguments);
    for part in ["device: ", "cases: ", "tiny qwen3moe: 24 of 24 tokens", "passed; everything is"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let report = std::fs::read_to_string(shell.path("minfer-self-test.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["finished"], &report["failures"]), (&true.into(), &[0; 0].into()));
    assert!(report["cases"]["passed"].as_u64().unwrap() > 10, "{report}");
    assert_eq!(report["models"].as_array().unwrap().len(), 5, "{report}");
    assert_eq!(report["machine"]["choice"], "cpu");
    assert!(!report["machine"]["system"].as_str().unwrap().is_empty());
}

#[test]
fn a_part_or_a_filter_that_is_not_there_is_refused() {
    let shell = Shell::new();
    shell.bad(&["self-test", "--parts", "cases,sped"], 2, &["no part \"sped\"", "speed"]);
    let none = ["self-test", "--device", "cpu", "--parts", "cases", "--filter", "nothing"];
    let ended = shell.run(&none);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("error: --filter \"nothing\": no case"), "{}", ended.stderr);
}

#[test]
fn a_table_of_choices_that_cannot_be_read_is_refused() {
    let shell = Shell::new();
    shell.write("list.json", "[]");
    let with = |file: &'static str| ["self-test", "--parts", "kernels", "--tune", file];
    shell.bad(&with("list.json"), 2, &["--tune list.json", "expected an object \"tune\""]);
    shell.bad(&with("none.json"), 1, &["--tune none.json"]);
    shell.write("table.json", r#"{"tune": {"matmul.few_rows": 4}}"#);
    let on_cpu = [&with("table.json")[..], &["--device", "cpu"]].concat();
    shell.bad(&on_cpu, 1, &["tune: expected no choice", "found matmul.few_rows"]);
}

#[test]
fn traces_part_where_the_arithmetic_does() {
    let shell = Shell::new();
    shell.good(&["synth", "tiny-llama", "-q", "q8_0", "-o", "m.gguf"]);
    let trace = |folder: &str, more: &[&str]| {
        let arguments = ["score", "-m", "m.gguf", "--trace", folder];
        shell.good(&[&arguments[..], more, &["some words to compute"]].concat());
    };
    trace("a", &["--device", "cpu", "--exact"]);
    trace("b", &["--device", "reference-f64", "--exact"]);
    trace("c", &["--device", "cpu"]);
    let same = shell.good(&["trace", "diff", "a", "b"]);
    assert!(same.contains(" values compared, 0 of them differ"), "{same}");
    let report = shell.json(&["trace", "diff", "a", "b", "--json", "--tolerance", "0.01"]);
    assert_eq!(report["parts_at"], serde_json::Value::Null);
    // What the CPU fuses has no other of its kind.
    assert!(report["report"]["values"].as_array().unwrap().len() >= 8, "{report}");
    let parted = ["trace", "diff", "a", "c", "--tolerance", "1e-6"];
    let ended = shell.run(&parted);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("error: the traces part at blk.0"), "{}", ended.stderr);
    assert!(ended.stdout.contains("first at blk.0"), "{}", ended.stdout);
    shell.bad(&["trace", "diff", "a", "none"], 1, &["a folder that --trace wrote"]);
}
