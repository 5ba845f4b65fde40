//! Tiny models: their logits on any device.

use minfer_conformance::{Tolerance, compare};
use minfer_engine::{DeviceChoice, Engine, EngineOptions};
use minfer_gguf::File;

pub const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "gemma3", "qwen3moe"];

/// A text that is longer than a page of the cache.
pub fn tokens() -> Vec<u32> {
    (0..40).map(|i| 3 + i * 7 % 280).collect()
}

/// An engine on the exact path.
pub fn engine(file: File, change: impl FnOnce(&mut EngineOptions)) -> Engine {
    let mut options = EngineOptions {
        device: DeviceChoice::MetalSim,
        threads: 2,
        context: Some(256),
        exact: true,
        ..EngineOptions::default()
    };
    change(&mut options);
    Engine::from_file(file, options).unwrap()
}

/// The logits after each token: a prompt, then tokens one by one.
pub fn logits(engine: &mut Engine) -> Vec<f32> {
    let mut rows = Vec::new();
    engine.score_chunked(&tokens(), 33, &|_| true, &mut |_, row| rows.extend(row)).unwrap();
    engine.score_chunked(&tokens()[..4], 1, &|_| true, &mut |_, row| rows.extend(row)).unwrap();
    rows
}

/// What double precision gives.
pub fn expected(file: File) -> Vec<f32> {
    logits(&mut engine(file, |options| options.device = DeviceChoice::ReferenceF64))
}

/// Fails where they are further apart than sums in single precision are.
#[track_caller]
pub fn assert_near(expected: &[f32], found: &[f32], what: &str) {
    let difference = compare(expected, found, Tolerance::Relative(1e-3));
    assert!(difference.is_none(), "{what}: {difference:?}");
}
