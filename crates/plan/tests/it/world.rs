//! Declarations of a small imaginary model of width 256, and the pieces that tests build graphs of.

use std::sync::Arc;

use minfer_graph::op::embed::Embed;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::{Pairs, Rope};
use minfer_graph::{
    Builder, Input, KvTypes, StateDecl, StateId, StepKind, StepShape, ValueId, Want, WeightDecl,
    WeightId,
};
use minfer_quant::{KvType, Quant};

pub const EMBED: WeightId = WeightId(0);
pub const NORM: WeightId = WeightId(1);
pub const Q: WeightId = WeightId(2);
pub const K: WeightId = WeightId(3);
pub const V: WeightId = WeightId(4);
pub const HEAD_NORM: WeightId = WeightId(5);
pub const GATE: WeightId = WeightId(6);
pub const UP: WeightId = WeightId(7);
pub const DOWN: WeightId = WeightId(8);

pub const KV: KvTypes = KvTypes { key: KvType::F16, value: KvType::F16 };

pub const SHAPE: StepShape = StepShape {
    tokens: 4,
    outputs: 2,
    want: Want::Logits,
    kind: StepKind::Mixed,
    kv: KV,
    sequences: 2,
    pages: 3,
    work: 7,
    partials: 5,
};

/// Two layers of caches; v is in another format than q and k.
pub fn builder() -> Builder {
    let weight = |name: &str, quant, rows, cols| WeightDecl {
        name: name.into(),
        quant,
        experts: 1,
        rows,
        cols,
    };
    let weights: Arc<[WeightDecl]> = Arc::new([
        weight("embed", Quant::Q8_0, 320, 256),
        weight("norm", Quant::F32, 1, 256),
        weight("q", Quant::Q8_0, 256, 256),
        weight("k", Quant::Q8_0, 64, 256),
        weight("v", Quant::Q6_K, 64, 256),
        weight("head_norm", Quant::F32, 1, 32),
        weight("gate", Quant::Q4_0, 512, 256),
        weight("up", Quant::Q4_0, 512, 256),
        weight("down", Quant::Q4_0, 256, 512),
    ]);
    let state = |layer| StateDecl::Paged {
        group: 0,
        layer,
        kv_heads: 2,
        head_dim: 32,
        key: KvType::F16,
        value: KvType::F16,
        window: None,
    };
    Builder::new(weights, Arc::new([state(0), state(1)]), SHAPE)
}

pub fn embed(b: &mut Builder) -> ValueId {
    let ids = b.input(Input::Tokens);
    b.push_one("embed", Embed { weight: EMBED }, &[ids]).unwrap()
}

pub fn norm(b: &mut Builder, x: ValueId) -> ValueId {
    b.push_one("norm", RmsNorm { weight: NORM, eps: 1e-5 }, &[x]).unwrap()
}

pub fn group(b: &mut Builder, weights: &[WeightId], x: ValueId) -> Vec<ValueId> {
    let members = weights.iter().map(|&weight| Member::new(weight, None)).collect();
    b.push("group", MatmulGroup { members }, &[x]).unwrap()
}

pub fn rope(b: &mut Builder, x: ValueId) -> ValueId {
    rope_by(b, x, 1.0)
}

pub fn rope_by(b: &mut Builder, x: ValueId, magnitude: f32) -> ValueId {
    let positions = b.input(Input::Positions);
    let frequencies = [1.0, 0.1].into();
    let op = Rope { head_dim: 32, pairs: Pairs::HalfSplit, frequencies, magnitude };
    b.push_one("rope", op, &[x, positions]).unwrap()
}

pub fn store(b: &mut Builder, state: u32, k: ValueId, v: ValueId) {
    let slots = b.input(Input::Slots { group: 0 });
    let op = minfer_graph::op::kv_store::KvStore { state: StateId(state) };
    b.push("store", op, &[k, v, slots]).unwrap();
}
