//! Heads, windows and caches in whole models, at sizes that do not divide.

use minfer_backend_metal::Staging;
use minfer_conformance::blueprint_file;
use minfer_models::Blueprint;
use minfer_models::arch::ARCHITECTURES;
use minfer_quant::{KvType, Quant};

use crate::harness::{Yardstick, device};

fn blueprint(architecture: &str) -> Blueprint {
    let found = ARCHITECTURES.iter().find(|known| known.name == architecture);
    (found.unwrap().tiny)(64)
}

/// Cached values are rounded: one beside the middle of two neighbours may become either.
fn bound(kv: KvType) -> f32 {
    match kv {
        KvType::F32 => 2e-5,
        KvType::F16 => 2e-3,
        KvType::BF16 | KvType::Q8_0 => 2e-2,
    }
}

#[test]
fn heads_of_every_size_with_caches_of_every_type() {
    let shapes = [
        ("llama", 9, 3, 40),
        ("qwen2", 14, 2, 64),
        ("qwen3", 5, 5, 72),
        ("gemma3", 3, 1, 80),
        ("llama", 6, 2, 96),
        ("qwen3", 7, 1, 120),
        ("qwen3moe", 4, 4, 192),
        ("gemma3", 4, 1, 256),
        ("llama", 15, 5, 8),
    ];
    for (index, (architecture, heads, kv_heads, head_dim)) in shapes.into_iter().enumerate() {
        let mut blueprint = blueprint(architecture);
        let config = &mut blueprint.config;
        (config.heads, config.kv_heads, config.head_dim) = (heads, kv_heads, head_dim);
        config.rope_dims = head_dim;
        let bytes = blueprint_file(&blueprint, Quant::F16);
        let others = KvType::ALL.iter().copied().filter(|kv| kv.row_bytes(head_dim).is_ok());
        let others: Vec<KvType> = others.collect();
        // f32 shows every fault of the arithmetic; one of the others goes with each shape.
        for kv in [KvType::F32, others[index % others.len()]] {
            let yardstick = Yardstick::new(bytes.clone(), 47, kv);
            let found =
                yardstick.model(device(Staging::Full)).prompt(&yardstick.tokens, &[33, 5, 1]);
            let name = kv.name();
            let what = format!("{architecture} {heads}/{kv_heads}x{head_dim} {name}");
            yardstick.hold(0, &found.unwrap(), bound(kv), &what);
        }
    }
}

#[test]
fn windows_at_their_edges() {
    for window in [1, 31, 32, 33, 65] {
        let blueprint = blueprint("gemma3").with_window(window);
        let yardstick = Yardstick::new(blueprint_file(&blueprint, Quant::Q8_0), 140, KvType::F32);
        let mut model = yardstick.model(device(Staging::Full));
        for cut in [&[137, 1][..], &[1, window + 8, window, 33, 9]] {
            let found = model.prompt(&yardstick.tokens, cut).unwrap();
            yardstick.hold(0, &found, 2e-5, &format!("window {window} in pieces of {cut:?}"));
        }
    }
}

/// Matrices whose sides are no multiples of any tile: only formats without blocks have them.
#[test]
fn matrices_of_odd_sides() {
    for architecture in ["llama", "qwen3moe"] {
        let mut blueprint = blueprint(architecture);
        let config = &mut blueprint.config;
        (config.embedding, config.feed_forward, config.vocabulary) = (67, 131, 293);
        if let Some(experts) = &mut config.experts {
            (experts.count, experts.used, experts.width) = (7, 3, 37);
        }
        for quant in [Quant::F16, Quant::BF16, Quant::F32] {
            let yardstick = Yardstick::new(blueprint_file(&blueprint, quant), 75, KvType::F32);
            let mut model = yardstick.model(device(Staging::Full));
            for cut in [&[65, 9, 1][..], &[1, 8, 33]] {
                let found = model.prompt(&yardstick.tokens, cut).unwrap();
                let what = format!("{architecture} {} in pieces of {cut:?}", quant.name());
                yardstick.hold(0, &found, 2e-5, &what);
            }
        }
    }
}
