//! Tiny models of every architecture as GGUF bytes.

use minfer_gguf::{Value, Writer};
use minfer_models::arch::ARCHITECTURES;
use minfer_models::{Blueprint, TensorShape};
use minfer_quant::Quant;

use crate::seeded::Seeded;

/// A tiny model of an architecture with seeded random weights: matrices in `quant`, vectors in f32,
/// and a byte vocabulary in SentencePiece style. Formats with blocks of 256 get a model wide enough
/// for them.
///
/// # Panics
/// On a name that is not an architecture.
pub fn tiny_file(architecture: &str, quant: Quant) -> Vec<u8> {
    let width = if quant.block_len() > 64 { 256 } else { 64 };
    let architecture = ARCHITECTURES.iter().find(|a| a.name == architecture);
    blueprint_file(&(architecture.expect("a name of the table").tiny)(width), quant)
}

/// The same of any blueprint, whose widths are such that the format has whole rows.
///
/// # Panics
/// On a blueprint without an architecture, or a vocabulary too small for the bytes.
pub fn blueprint_file(blueprint: &Blueprint, quant: Quant) -> Vec<u8> {
    let tensors = blueprint.tensors().expect("a sound blueprint");
    let mut seeded = Seeded::named(blueprint.config.architecture);
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata().into_iter().chain(tokenizer(blueprint)) {
        writer = writer.kv(key, value);
    }
    for TensorShape { name, dims } in tensors {
        let cols = dims[0] as usize;
        let values: usize = dims.iter().map(|&d| d as usize).product();
        let (format, bytes) = if dims.len() == 1 {
            let vector = norm_or_bias(&mut seeded, &name, values);
            (Quant::F32, vector.iter().flat_map(|v| v.to_le_bytes()).collect())
        } else {
            let size = 1.5 / (cols as f32).sqrt();
            // Routers stay in f32, as in real files: their choices are discrete.
            let format = if name.contains("ffn_gate_inp") { Quant::F32 } else { quant };
            (format, seeded.blocks(format, values, size))
        };
        writer = writer.tensor(name, format, dims, bytes);
    }
    writer.to_bytes().expect("the writer accepts what the blueprint lists")
}

fn norm_or_bias(seeded: &mut Seeded, name: &str, len: usize) -> Vec<f32> {
    let middle = if name.ends_with(".bias") { 0.0 } else { 1.0 };
    (0..len).map(|_| middle + 0.2 * seeded.unit()).collect()
}

/// Three control tokens, the 256 bytes, and letters up to the vocabulary's size.
fn tokenizer(blueprint: &Blueprint) -> Vec<(String, Value)> {
    let mut tokens = vec!["<unk>".to_string(), "<s>".into(), "</s>".into()];
    let mut types = vec![2i32, 3, 3];
    tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    types.extend([6; 256]);
    tokens.push("▁".into());
    let letters = ('a'..='z').chain('A'..='Z').map(String::from);
    tokens.extend(letters.take(blueprint.config.vocabulary.saturating_sub(tokens.len())));
    types.resize(tokens.len(), 1);
    let scores: Vec<f32> = (0..tokens.len()).map(|i| -(i as f32)).collect();
    vec![
        ("tokenizer.ggml.model".into(), "llama".into()),
        ("tokenizer.ggml.tokens".into(), tokens.into()),
        ("tokenizer.ggml.scores".into(), scores.into()),
        ("tokenizer.ggml.token_type".into(), types.into()),
        ("tokenizer.ggml.bos_token_id".into(), 1u32.into()),
        ("tokenizer.ggml.eos_token_id".into(), 2u32.into()),
    ]
}
