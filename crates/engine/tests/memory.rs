//! Resident memory of a process with one engine: the weights, the cache and little more, and no
//! more after a thousand requests. A program of its own, since the figures are the process's.
#![cfg(target_os = "linux")]

use std::path::PathBuf;

use minfer_engine::{Engine, EngineOptions, Params, Request};

const MIB: u64 = 1 << 20;

/// Bytes of this process that lie in memory, mapped weights among them.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

fn model(file: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/models").join(file);
    assert!(path.exists(), "no {}: run `cargo xtask models`", path.display());
    path
}

/// Answers request `number`: a few tokens that no other request has, then one new token.
fn answer(engine: &mut Engine, number: u32) {
    let request = Request {
        prompt: vec![1, 300 + number, 2000 + number],
        sampling: Params::greedy(),
        max_tokens: Some(1),
        ..Request::default()
    };
    engine.generate(request, &mut |_| ()).unwrap();
}

#[test]
fn memory_is_the_weights_and_little_more_and_stays_so() {
    for (file, over, requests) in
        [("SmolLM2-135M-Instruct.Q4_1.gguf", 64, 1000), ("gemma-3-270m-q4_k_m.gguf", 160, 100)]
    {
        let path = model(file);
        let weights = std::fs::metadata(&path).unwrap().len();
        let options = EngineOptions { context: Some(512), threads: 2, ..EngineOptions::default() };
        let mut engine = Engine::load(&path, options).unwrap();
        for number in 0..50 {
            answer(&mut engine, number);
        }
        let first = resident();
        assert!(first <= weights + over * MIB, "{file}: {} MiB", first / MIB);
        for number in 50..50 + requests {
            answer(&mut engine, number);
        }
        let last = resident();
        assert!(last <= first + 2 * MIB, "{file}: {} MiB, then {} MiB", first / MIB, last / MIB);
    }
}
