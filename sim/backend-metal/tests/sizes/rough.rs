//! Models that no one would train, and requests that no one should make.

use minfer_backend_metal::Staging;
use minfer_conformance::{TinyRows, blueprint_file};
use minfer_engine::{EngineOptions, FinishReason};
use minfer_models::Blueprint;
use minfer_models::arch::ARCHITECTURES;
use minfer_quant::{KvType, Quant};

use crate::harness::{Yardstick, device, engine, greedy, tiny, tokens};

fn blueprint(architecture: &str, change: impl FnOnce(&mut Blueprint)) -> Blueprint {
    let found = ARCHITECTURES.iter().find(|known| known.name == architecture);
    let mut blueprint = (found.unwrap().tiny)(64);
    change(&mut blueprint);
    blueprint
}

/// Shapes at the ends of what opens.
#[test]
fn the_smallest_and_the_strangest_shapes_give_the_formulas_logits() {
    let models = [
        blueprint("llama", |b| {
            let c = &mut b.config;
            (c.embedding, c.feed_forward, c.heads, c.kv_heads) = (1, 1, 1, 1);
            (c.head_dim, c.rope_dims, c.layers) = (8, 2, 1);
        }),
        blueprint("qwen3", |b| {
            let c = &mut b.config;
            (c.heads, c.kv_heads, c.head_dim, c.rope_dims) = (64, 1, 16, 6);
        }),
        blueprint("qwen2", |b| b.config.embedding = 3),
        blueprint("gemma3", |b| b.config.window.as_mut().unwrap().size = 100_000),
        blueprint("qwen3moe", |b| {
            let experts = b.config.experts.as_mut().unwrap();
            (experts.count, experts.used, experts.width) = (1, 1, 1);
        }),
        blueprint("qwen3moe", |b| {
            let experts = b.config.experts.as_mut().unwrap();
            (experts.count, experts.used, experts.width) = (40, 40, 5);
        }),
    ];
    for (index, blueprint) in models.iter().enumerate() {
        let bytes = blueprint_file(blueprint, Quant::F16);
        let yardstick = Yardstick::new(bytes, 40, KvType::F32);
        let found = yardstick.model(device(Staging::Full)).prompt(&yardstick.tokens, &[33, 1]);
        // Norms of three columns and softmaxes without norms before them magnify roundings.
        yardstick.hold(0, &found.unwrap(), 5e-4, &format!("model {index}"));
    }
}

#[test]
fn heads_that_no_kernel_takes_are_refused_by_their_size() {
    for head_dim in [12, 264, 512] {
        let blueprint = blueprint("llama", |b| {
            (b.config.head_dim, b.config.rope_dims) = (head_dim, head_dim);
        });
        let bytes = blueprint_file(&blueprint, Quant::F16);
        let yardstick = Yardstick::new(bytes, 3, KvType::F32);
        let error = yardstick.model(device(Staging::Full)).prompt(&yardstick.tokens, &[]);
        let error = error.unwrap_err();
        assert!(error.contains(&head_dim.to_string()) && error.contains("256"), "{error}");
    }
}

/// Weights of any size: what is too large for f32 shows as a failed request, and the next one is
/// served.
#[test]
fn a_request_whose_numbers_break_fails_alone() {
    let mut bytes = tiny("llama", Quant::F32);
    let file = minfer_gguf::File::from_bytes(bytes.clone()).unwrap();
    let model = minfer_models::open(&file).unwrap();
    let embedding = model.weights().iter().position(|decl| decl.name == "token_embd.weight");
    let source = model.sources()[embedding.unwrap()];
    // The embedding of token 7 is no number.
    let start = source.offset as usize + 7 * 64 * 4;
    bytes[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut engine = engine(bytes, EngineOptions { context: Some(64), ..EngineOptions::default() });
    let sound = engine.generate(greedy(vec![3, 4, 5], 4), &mut |_| ()).unwrap();
    assert_eq!(sound.reason, FinishReason::Length);
    for prompt in [vec![3, 7, 5], vec![7; 20]] {
        let broken = engine.generate(greedy(prompt, 4), &mut |_| ()).unwrap();
        let FinishReason::Failed(said) = broken.reason else { panic!("{:?}", broken.reason) };
        assert!(said.contains("NaN"), "{said}");
    }
    let again = engine.generate(greedy(vec![3, 4, 5], 4), &mut |_| ()).unwrap();
    assert_eq!(again.stats.logits_hash, sound.stats.logits_hash);
}

#[test]
fn prompts_of_no_tokens_and_of_too_many_are_refused() {
    let options = EngineOptions { context: Some(64), ..EngineOptions::default() };
    let mut engine = engine(tiny("qwen3", Quant::Q8_0), options);
    assert!(engine.submit(greedy(Vec::new(), 3)).is_err());
    assert!(engine.submit(greedy(vec![100_000], 3)).is_err());
    let error = engine.submit(greedy(tokens(65), 3)).unwrap_err().to_string();
    assert!(error.contains("65") && error.contains("64"), "{error}");
    for (length, generated) in [(63, 2), (64, 1), (59, 6)] {
        let mut request = greedy(tokens(length), 0);
        request.max_tokens = None;
        let done = engine.generate(request, &mut |_| ()).unwrap();
        assert_eq!((done.reason, done.tokens.len()), (FinishReason::ContextFull, generated));
    }
}

#[test]
fn a_step_without_rows_is_nothing() {
    let yardstick = Yardstick::new(tiny("gemma3", Quant::Q8_0), 9, KvType::F32);
    let mut model = yardstick.model(device(Staging::Full)).in_buckets_of(16);
    assert_eq!(model.step(&[]).unwrap(), Vec::<f32>::new());
    let tokens = &yardstick.tokens;
    let none = [TinyRows { sequence: 0, position: 0, tokens, outputs: 0 }];
    assert_eq!(model.step(&none).unwrap(), Vec::<f32>::new(), "nobody asked for logits");
    let found = model.prompt(tokens, &[]).unwrap();
    yardstick.hold(0, &found, 2e-5, "after an empty step");
}

#[test]
fn two_hundred_steps_of_one_row() {
    let yardstick = Yardstick::new(tiny("llama", Quant::Q4_0), 200, KvType::F32);
    let mut model = yardstick.model(device(Staging::Full));
    let found = model.prompt(&yardstick.tokens, &[1]).unwrap();
    yardstick.hold(0, &found, 2e-5, "one by one");
}
