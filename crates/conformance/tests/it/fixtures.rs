//! Every architecture against transformers, on the fixtures of crates/models.

use std::path::PathBuf;

use minfer_conformance::{TinyRun, run_tiny};
use minfer_gguf::File;
use minfer_graph::KvTypes;
use minfer_plan::{Options, TargetId};
use minfer_quant::KvType;
use minfer_reference::{Mode, Reference};

const FIXTURES: [&str; 12] = [
    "gemma3",
    "gemma3_27b",
    "gemma3_linear",
    "llama",
    "llama_linear",
    "llama_llama3",
    "llama_tied",
    "llama_yarn",
    "qwen2",
    "qwen3",
    "qwen3_yarn",
    "qwen3moe",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models/tests/fixtures").join(name)
}

fn ids(name: &str) -> Vec<u32> {
    let json = std::fs::read_to_string(path(&format!("{name}.json"))).expect("a fixture");
    let list = json.split("\"ids\": [").nth(1).and_then(|rest| rest.split(']').next());
    let ids = list.expect("ids").split(',').map(|id| id.trim().parse().expect("an id"));
    ids.collect()
}

fn golden(name: &str) -> Vec<f32> {
    let bytes = std::fs::read(path(&format!("{name}.logits"))).expect("a fixture");
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// Exact path: f32 activations and cache.
fn exact(file: &File, tokens: &[u32], chunks: Vec<usize>, mode: Mode) -> Vec<f32> {
    let layers = minfer_models::open(file).expect("a model").config().layers;
    let kv = KvTypes { key: KvType::F32, value: KvType::F32 };
    let options = Options { exact: true, ..Options::default() };
    let run = TinyRun { kv, chunks, options, layers: vec![TargetId(0); layers] };
    run_tiny(file, vec![Box::new(Reference::new(mode))], tokens, &run).expect("runs")
}

/// Largest difference at any position, relative to that position's largest logit.
fn relative(expected: &[f32], found: &[f32], vocabulary: usize) -> f32 {
    assert_eq!(expected.len(), found.len());
    let rows = expected.chunks(vocabulary).zip(found.chunks(vocabulary));
    rows.map(|(expected, found)| {
        let largest = expected.iter().fold(0.0f32, |m, v| m.max(v.abs()));
        let worst = expected.iter().zip(found).fold(0.0f32, |m, (e, f)| m.max((e - f).abs()));
        worst / largest
    })
    .fold(0.0, f32::max)
}

#[test]
fn logits_equal_transformers() {
    for name in FIXTURES {
        let file = File::open(path(&format!("{name}.gguf"))).expect("opens");
        let tokens = ids(name);
        let expected = golden(name);
        let vocabulary = expected.len() / tokens.len();
        for mode in [Mode::Canonical, Mode::F64] {
            let found = exact(&file, &tokens, vec![tokens.len()], mode);
            let worst = relative(&expected, &found, vocabulary);
            assert!(worst < 1e-4, "{name}: {worst:e} relative");
        }
    }
}

#[test]
fn prefill_equals_decode_equals_chunks() {
    for name in FIXTURES {
        let file = File::open(path(&format!("{name}.gguf"))).expect("opens");
        let tokens = ids(name);
        let whole = exact(&file, &tokens, vec![tokens.len()], Mode::Canonical);
        for chunks in [vec![1], vec![7], vec![33, 1]] {
            let cut = exact(&file, &tokens, chunks.clone(), Mode::Canonical);
            let same = whole.iter().zip(&cut).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{name} in chunks of {chunks:?}");
        }
    }
}
