//! Stages as text, traces, profiles, memory.

use minfer_engine::{EngineOptions, Stage};

use crate::harness::{engine, greedy, options, prompt, run};

#[test]
fn every_stage_of_every_bucket_has_a_text() {
    let mut engine = engine("llama", options());
    let marks = [
        (Stage::Graph, "matmul"),
        (Stage::Dot, "digraph"),
        (Stage::Json, "\"nodes\""),
        (Stage::Program, "split 0"),
        (Stage::Launches, "why:"),
    ];
    for (stage, mark) in marks {
        let dumps = engine.program_dump(stage).unwrap();
        assert!((2..=8).contains(&dumps.len()));
        assert!(dumps.iter().all(|dump| dump.text.contains(mark)), "{stage:?}: {}", dumps[0].text);
        assert_eq!(dumps, engine.program_dump(stage).unwrap());
    }
}

#[test]
fn a_trace_has_every_value_of_the_run() {
    let mut engine = engine("gemma3", options());
    let text = prompt(7, 12);
    let mut scored = Vec::new();
    engine.score(&text, 11, &mut |_, row| scored = row.to_vec()).unwrap();
    let (mut nodes, mut last) = (Vec::new(), Vec::new());
    engine
        .trace(&text, &mut |value| {
            nodes.push((value.node.to_owned(), value.op));
            last = value.bytes.to_vec();
        })
        .unwrap();
    assert!(nodes.len() > 7 * 8, "{nodes:?}");
    assert_eq!(nodes.last().unwrap().0, "output");
    let logits: Vec<u8> = scored.iter().flat_map(|logit| logit.to_le_bytes()).collect();
    assert_eq!(last, logits);
}

#[test]
fn a_profile_counts_launches() {
    let mut engine = engine("llama", EngineOptions { profile: true, ..options() });
    assert!(engine.profile().is_empty());
    run(&mut engine, greedy(prompt(1, 10), 4));
    let profile = engine.profile();
    let attention = profile.iter().find(|row| row.op == "attention").unwrap();
    assert_eq!(attention.calls, 4 * 2, "four steps of two layers");
    let matmuls: u64 = profile.iter().filter(|row| row.op.contains("matmul")).map(|r| r.macs).sum();
    assert!(matmuls > 0);
    assert!(profile.iter().all(|row| row.bytes > 0 && row.calls > 0));
    assert!(profile.windows(2).all(|pair| pair[0].nanoseconds >= pair[1].nanoseconds));
}

#[test]
fn memory_is_known_after_load() {
    let mut engine = engine("llama", EngineOptions { kv_pages: Some(10), ..options() });
    let memory = engine.memory().unwrap();
    // Two layers, two heads of 32, K and V in f16, pages of 32 positions.
    assert_eq!(memory.kv_bytes, 10 * 2 * 2 * 2 * 32 * 2 * 32);
    assert!(memory.weights_bytes > 0 && memory.arena_bytes > 0);
    assert_eq!(memory.placement, "all 2 layers on cpu");
    assert_eq!((memory.devices.len(), memory.devices[0].layers, memory.context), (1, 2, 256));
}

#[test]
fn the_exact_path_keeps_f32() {
    let mut exact = engine("llama", EngineOptions { exact: true, ..options() });
    let launches = exact.program_dump(Stage::Launches).unwrap();
    assert!(launches.iter().all(|dump| !dump.text.contains("quantize")), "{}", launches[0].text);
    let twice = exact.memory().unwrap().kv_bytes;
    let normal = engine("llama", options()).memory().unwrap().kv_bytes;
    assert_eq!(twice, 2 * normal);
    run(&mut exact, greedy(prompt(1, 5), 2));
}
