//! Hyper-parameters: each has its range, and a file that leaves it is told so by the key's name.

use minfer_gguf::Value;
use minfer_models::Error;
use minfer_quant::KvType;

use crate::make::*;

/// A key, a value out of its range, and what is said of it.
fn refused(draft: &Draft, name: &str, value: impl Into<Value>, expected: &str) {
    let draft = draft.clone().with(name, value);
    match draft.open() {
        Err(Error::Parameter { key, .. }) => assert!(key.ends_with(name), "{key} for {name}"),
        Err(other) => panic!("{name}: {other:?}"),
        Ok(model) => panic!("{name}: {:?}", model.config()),
    }
    let message = draft.refusal();
    let (_, said) = message.split_once(": ").unwrap();
    assert_eq!(said, expected, "{name}");
}

#[test]
fn counts_have_ranges() {
    let llama = Draft::tiny("llama");
    let out = |name: &str, value: u64, range: &str| {
        refused(&llama, name, value, &format!("expected {range}, found {value}"));
    };
    for (name, high) in [
        ("attention.head_count", 1024),
        ("embedding_length", 1 << 20),
        ("attention.key_length", 1 << 20),
        ("attention.head_count_kv", 1024),
        ("context_length", 16 << 20),
        ("block_count", 1024),
        ("feed_forward_length", 1 << 20),
    ] {
        for value in [0, high + 1, u64::from(u32::MAX), u64::MAX] {
            out(name, value, &format!("1 to {high}"));
        }
    }
    // Heads are of 32 elements, all of which are turned.
    out("rope.dimension_count", 1, "2 to 32");
    out("rope.dimension_count", 33, "2 to 32");
    out("attention.value_length", 64, "32");
    out("attention.head_count_kv", 3, "a divisor of 4 query heads");
    out("attention.head_count_kv", 8, "a divisor of 4 query heads");
}

#[test]
fn numbers_are_finite_and_have_signs() {
    let llama = Draft::tiny("llama");
    let eps = "attention.layer_norm_rms_epsilon";
    let number = "a finite number, at least 0";
    for (value, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (-1.0, "-1")] {
        refused(&llama, eps, value, &format!("expected {number}, found {text}"));
        let base = format!("expected {number}, found {text}");
        refused(&llama, "rope.freq_base", value, &base);
    }
    let above = "expected a finite number above 0, found 0";
    refused(&llama, "rope.freq_base", 0.0f32, above);
    refused(&llama, "rope.scaling.factor", 0.0f32, above);
    llama.with(eps, 0.0f32).open().unwrap();
}

#[test]
fn stretching_is_checked() {
    let llama = Draft::tiny("llama");
    let unknown = "expected none, linear or yarn, found banana";
    refused(&llama, "rope.scaling.type", "banana", unknown);
    let yarn = llama.with("rope.scaling.type", "yarn").with("rope.scaling.factor", 4.0f32);
    yarn.open().unwrap();
    let above = "expected a finite number above 0, found 0";
    refused(&yarn, "rope.scaling.yarn_beta_fast", 0.0f32, above);
    refused(&yarn, "rope.scaling.yarn_beta_slow", 0.0f32, above);
    refused(&yarn, "rope.scaling.attn_factor", 0.0f32, above);
    let nan = "expected a finite number, at least 0, found NaN";
    refused(&yarn, "rope.scaling.yarn_log_multiplier", f32::NAN, nan);
    let original = "rope.scaling.original_context_length";
    refused(&yarn, original, 0u32, "expected 1 to 16777216, found 0");
    let base = "expected a number above 1 for yarn, found 1";
    refused(&yarn, "rope.freq_base", 1.0f32, base);
    // Each in range, and their product not.
    let magnitude = "expected a magnitude of q and k that f32 holds, found inf";
    let large = yarn.clone().with("rope.scaling.factor", f32::MAX);
    refused(&large, "rope.scaling.attn_factor", f32::MAX, magnitude);
    let small = yarn.with("rope.scaling.yarn_log_multiplier", f32::MAX);
    assert!(small.with("rope.scaling.attn_factor", 1e-7f32).refusal().contains("a magnitude"));
}

#[test]
fn what_one_architecture_alone_has_is_checked() {
    let gemma = Draft::tiny("gemma3");
    let window = "attention.sliding_window";
    refused(&gemma, window, u32::MAX, "expected 0 to 16777216, found 4294967295");
    let period = "attention.sliding_window_pattern";
    refused(&gemma, period, 0u32, "expected 1 to 1024, found 0");
    let above = "expected a finite number above 0, found 0";
    refused(&gemma, "rope.freq_base_swa", 0.0f32, above);
    let moe = Draft::tiny("qwen3moe");
    refused(&moe, "expert_count", 0u32, "expected 1 to 4096, found 0");
    refused(&moe, "expert_count", 4097u32, "expected 1 to 4096, found 4097");
    refused(&moe, "expert_used_count", 0u32, "expected 1 to 4, found 0");
    refused(&moe, "expert_used_count", 5u32, "expected 1 to 4, found 5");
    refused(&moe, "expert_feed_forward_length", 0u32, "expected 1 to 1048576, found 0");
}

#[test]
fn keys_that_must_be_there_are_missed_by_name() {
    let required = [
        ("llama", "attention.head_count"),
        ("qwen2", "embedding_length"),
        ("llama", "context_length"),
        ("qwen3", "block_count"),
        ("llama", "feed_forward_length"),
        ("gemma3", "attention.layer_norm_rms_epsilon"),
        ("qwen3moe", "expert_count"),
        ("qwen3moe", "expert_used_count"),
        ("qwen3moe", "expert_feed_forward_length"),
    ];
    for (architecture, name) in required {
        let error = Draft::tiny(architecture).without(name).open().unwrap_err();
        assert!(matches!(error, Error::Metadata(_)), "{error:?}");
        assert!(error.to_string().contains(&format!("{architecture}.{name}")), "{error}");
    }
    let wrong = Draft::tiny("llama").with("block_count", "two").open().unwrap_err();
    assert!(matches!(wrong, Error::Metadata(_)), "{wrong:?}");
    assert!(wrong.to_string().contains("llama.block_count"), "{wrong}");
}

#[test]
fn keys_that_may_be_missing_have_defaults() {
    let draft = Draft::tiny("llama")
        .without("attention.head_count_kv")
        .without("attention.value_length")
        .without("rope.dimension_count")
        .without("rope.freq_base")
        .with_dims("blk.0.attn_k.weight", &[64, 128])
        .with_dims("blk.0.attn_v.weight", &[64, 128])
        .with_dims("blk.1.attn_k.weight", &[64, 128])
        .with_dims("blk.1.attn_v.weight", &[64, 128]);
    let model = draft.open().unwrap();
    let config = model.config();
    assert_eq!((config.kv_heads, config.rope_dims, config.rope_base), (4, 32, 10_000.0));
    // Without a key length a head is its share of the width: 16 elements, not 32.
    let error = Draft::tiny("llama").without("attention.key_length").refusal();
    assert!(error.starts_with("llama.attention.value_length: expected 16"), "{error}");
    let gemma = Draft::tiny("gemma3")
        .without("attention.sliding_window_pattern")
        .without("rope.freq_base_swa");
    let window = gemma.open().unwrap().config().window.unwrap();
    assert_eq!((window.size, window.period, window.rope_base), (8, 6, 10_000.0));
    let unwindowed = Draft::tiny("gemma3").with("attention.sliding_window", 0u32);
    assert_eq!(unwindowed.open().unwrap().config().window, None);
}

#[test]
fn unknown_architectures_are_told_the_known_ones() {
    let draft = Draft::tiny("llama").with_key("general.architecture", "mamba");
    let expected = "architecture \"mamba\" is not supported; supported: llama, qwen2, qwen3, \
                    gemma3, qwen3moe";
    assert_eq!(draft.refusal(), expected);
    assert!(matches!(draft.open(), Err(Error::Architecture { .. })));
    let numbered = Draft::tiny("llama").with_key("general.architecture", 7u32).open().unwrap_err();
    assert!(matches!(numbered, Error::Metadata(_)), "{numbered:?}");
}

#[test]
fn names_and_aliases_find_one_architecture() {
    let all = minfer_models::arch::ARCHITECTURES;
    for architecture in all {
        for name in architecture.aliases.iter().chain([&architecture.name]) {
            assert_eq!(all.iter().filter(|a| a.answers_to(name)).count(), 1, "{name}");
        }
        assert!(!architecture.answers_to(&architecture.name.to_uppercase()));
    }
    assert!(!architecture("qwen3").answers_to("qwen3moe"));
}

#[test]
fn caches_suit_the_heads() {
    let odd = Draft::tiny("llama").with("attention.key_length", 20u32);
    let odd = odd.with("attention.value_length", 20u32).with("rope.dimension_count", 20u32);
    let layers = [0, 1].into_iter().fold(odd, |draft, i| {
        draft
            .with_dims(&format!("blk.{i}.attn_q.weight"), &[64, 80])
            .with_dims(&format!("blk.{i}.attn_k.weight"), &[64, 40])
            .with_dims(&format!("blk.{i}.attn_v.weight"), &[64, 40])
            .with_dims(&format!("blk.{i}.attn_output.weight"), &[80, 64])
    });
    let model = layers.open().unwrap();
    model.config().check_kv(KvType::F16).unwrap();
    let error = model.config().check_kv(KvType::Q8_0).unwrap_err();
    assert!(error.to_string().contains("20"), "{error}");
    let kv = minfer_graph::KvTypes { key: KvType::F16, value: KvType::Q8_0 };
    assert!(matches!(model.states(kv), Err(Error::Quant(_))));
    let shape = minfer_graph::StepShape { kv, ..shape(minfer_graph::Want::Logits) };
    assert!(matches!(model.graph(&shape), Err(Error::Quant(_))));
}
