//! Declarations that all tests share: weights, states and a shape of a small imaginary model of
//! width 256 with eight query heads of 32 in two K/V groups.

use std::sync::Arc;

use minfer_graph::op::rope::{Pairs, Rope};
use minfer_graph::{
    Builder, KvTypes, Rows, StateDecl, StateId, StepKind, StepShape, Tables, TensorType, Want,
    WeightDecl, WeightId,
};
use minfer_quant::{DType, KvType, Quant};

pub const EMBED: WeightId = WeightId(0);
pub const NORM: WeightId = WeightId(1);
pub const Q: WeightId = WeightId(2);
pub const K: WeightId = WeightId(3);
pub const V: WeightId = WeightId(4);
pub const HEAD_NORM: WeightId = WeightId(5);
pub const GATE: WeightId = WeightId(6);
pub const UP: WeightId = WeightId(7);
pub const DOWN: WeightId = WeightId(8);
pub const Q_BIAS: WeightId = WeightId(9);
pub const K_BIAS: WeightId = WeightId(10);
pub const EXPERTS: WeightId = WeightId(11);
pub const SINKS: WeightId = WeightId(12);

/// A cache that the model's K and V fit.
pub const CACHE: StateId = StateId(0);
/// Not a cache.
pub const RECURRENT: StateId = StateId(1);
/// A cache whose type does not suit its heads.
pub const UNSUITABLE: StateId = StateId(2);
/// A cache with a window of 64 positions.
pub const WINDOWED: StateId = StateId(3);

pub const SHAPE: StepShape = StepShape {
    tokens: 4,
    outputs: 2,
    want: Want::Logits,
    kind: StepKind::Mixed,
    kv: KvTypes { key: KvType::F16, value: KvType::F16 },
    sequences: 2,
    pages: 3,
    work: 7,
    partials: 5,
};

pub fn weights() -> Arc<[WeightDecl]> {
    let weight = |name: &str, quant, experts, rows, cols| WeightDecl {
        name: name.into(),
        quant,
        experts,
        rows,
        cols,
    };
    Arc::new([
        weight("embed", Quant::Q4_K, 1, 320, 256),
        weight("norm", Quant::F32, 1, 1, 256),
        weight("q", Quant::Q8_0, 1, 256, 256),
        weight("k", Quant::Q8_0, 1, 64, 256),
        weight("v", Quant::Q6_K, 1, 64, 256),
        weight("head_norm", Quant::F32, 1, 1, 32),
        weight("gate", Quant::Q4_0, 1, 512, 256),
        weight("up", Quant::Q4_0, 1, 512, 256),
        weight("down", Quant::Q4_0, 1, 256, 512),
        weight("q_bias", Quant::F32, 1, 1, 256),
        weight("k_bias", Quant::F32, 1, 1, 64),
        weight("experts", Quant::F16, 4, 512, 256),
        weight("sinks", Quant::F32, 1, 1, 8),
    ])
}

pub fn states() -> Arc<[StateDecl]> {
    let cache = |layer, head_dim, kv, window| StateDecl::Paged {
        group: layer,
        layer,
        kv_heads: 2,
        head_dim,
        key: kv,
        value: kv,
        window,
    };
    Arc::new([
        cache(0, 32, KvType::F16, None),
        StateDecl::PerSequence { layer: 1, bytes: 64 },
        cache(2, 20, KvType::Q8_0, None),
        cache(3, 32, KvType::F32, Some(64)),
    ])
}

pub fn tables() -> Tables {
    Tables { weights: weights(), states: states(), shape: SHAPE }
}

pub fn builder() -> Builder {
    Builder::new(weights(), states(), SHAPE)
}

/// f32, one row a token.
pub fn tokens(cols: usize) -> TensorType {
    TensorType::f32(Rows::TOKENS, cols)
}

/// f32, `per` rows a token.
pub fn several(per: usize, cols: usize) -> TensorType {
    TensorType::f32(Rows::Tokens { per }, cols)
}

/// f32, one row an output row.
pub fn outputs(cols: usize) -> TensorType {
    TensorType::f32(Rows::OUTPUTS, cols)
}

/// i32, one row a token.
pub fn indices(cols: usize) -> TensorType {
    TensorType::i32(Rows::TOKENS, cols)
}

/// Quantized, one row a token.
pub fn quantized(dtype: DType, cols: usize) -> TensorType {
    TensorType::new(dtype, Rows::TOKENS, cols)
}

/// Rotation of whole heads of 32.
pub fn rope() -> Rope {
    let frequencies = (0..16).map(|i| 10_000f64.powf(-f64::from(i) / 16.0)).collect();
    Rope { head_dim: 32, pairs: Pairs::HalfSplit, frequencies, magnitude: 1.0 }
}
