use super::*;

#[test]
fn results_of_all_programs_are_summed() {
    let mut tally = Tally::default();
    for line in [
        "     Running unittests src/lib.rs (target/debug/deps/minfer_quant-5f1)",
        "running 12 tests",
        "test table::tests::sizes ... ok",
        "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; finished in 1.25s",
        "     Running tests/it/main.rs (target/debug/deps/it-77a)",
        "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; finished in 0.50s",
    ] {
        tally.read(line);
    }
    assert_eq!((tally.passed, tally.failed, tally.ignored), (15, 2, 1));
    let programs = [(1.25, "minfer_quant src/lib.rs"), (0.5, "it tests/it/main.rs")];
    assert_eq!(tally.programs, programs.map(|(time, name)| (time, name.to_owned())));
}

#[test]
fn the_summary_names_each_part_its_verdict_and_each_budget() {
    let part = |name| PARTS.iter().find(|part| part.name == name).unwrap();
    let times = [
        (part("fmt"), Duration::from_millis(1500), true),
        (part("tests"), Duration::from_secs(2000), false),
        (part("clang"), Duration::from_secs(30), true),
    ];
    let text = summary(&times, &Tally::default());
    assert!(text.contains("fmt               1.5 s  ok"), "{text}");
    assert!(text.contains("tests          2000.0 s  FAILED"), "{text}");
    assert!(text.contains("all cpu        2001.5 s  OVER the budget of 1200 s"), "{text}");
    assert!(text.contains("all metal        30.0 s  within the budget of 720 s"), "{text}");
}

#[test]
fn the_quick_run_still_tests() {
    let quick: Vec<&str> = PARTS.iter().filter(|part| part.quick).map(|part| part.name).collect();
    assert!(quick.contains(&"tests") && !quick.contains(&"clippy"), "{quick:?}");
}

#[test]
fn a_mac_tests_its_device_and_other_machines_the_simulator() {
    let on = |on: On| PARTS.iter().filter(move |part| part.on == on).map(|part| part.name);
    assert_eq!(on(On::Mac).collect::<Vec<_>>(), ["self-test"]);
    assert!(on(On::Simulator).any(|name| name == "macos"));
    assert!(On::Mac.is_here() != On::Simulator.is_here() && On::All.is_here());
}

#[test]
fn the_workflow_runs_what_is_there() {
    let text = include_str!("../../.github/workflows/ci.yml");
    let lines = text.lines().map(|line| line.trim().trim_start_matches("- "));
    let runs: Vec<&str> = lines.filter_map(|line| line.strip_prefix("run: ")).collect();
    let target = format!("rustup target add {}", mac::TARGET);
    assert_eq!(runs, [target.as_str(), "bash .ci/run"]);
    assert!(include_str!("../../.ci/run").contains("cargo xtask test"));
    assert!(text.contains(&format!("path: target/{SELF_TEST}")), "{SELF_TEST}");
    assert!(text.contains("macos-15"));
}
