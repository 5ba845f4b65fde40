//! Cases of `qkv`: formats, biases, norms, heads, types of the cache, rows; what it stores is read
//! back through `attention`.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::qkv::Qkv;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::Pairs;
use minfer_graph::{Input, KvTypes, Rows};
use minfer_plan::SequenceRows;
use minfer_quant::{DType, KvType, Quant};

use super::matmul::operand_of;
use super::rope::rope_of;
use super::{ROWS, quantized_operand, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

/// What a case varies beside its format.
#[derive(Clone, Copy)]
struct Shape {
    /// Query heads, K/V heads, columns of each.
    heads: [usize; 3],
    kv: KvType,
    input_norm: bool,
    bias: bool,
    norms: bool,
}

const PLAIN: Shape =
    Shape { heads: [4, 2, 32], kv: KvType::F32, input_norm: false, bias: false, norms: false };

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for quant in [Quant::F32, Quant::F16, Quant::Q4_1, Quant::Q8_0, Quant::Q4_K] {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for (bias, norms) in [(false, false), (true, false), (false, true)] {
                for rows in [1, 9, 33] {
                    cases.push(case(quant, operand, rows, Shape { bias, norms, ..PLAIN }));
                }
                if operand == DType::F32 {
                    let shape = Shape { input_norm: true, bias, norms, ..PLAIN };
                    cases.push(case(quant, operand, 5, shape));
                }
            }
        }
    }
    let both = Shape { bias: true, norms: true, ..PLAIN };
    cases.extend(ROWS.map(|rows| case(Quant::F16, DType::F32, rows, both)));
    for [heads, kv_heads] in [[9, 3], [14, 2], [5, 5], [3, 1], [1, 1]] {
        let shape = Shape { heads: [heads, kv_heads, 40], ..both };
        cases.extend([1, 10].map(|rows| case(Quant::F16, DType::F32, rows, shape)));
    }
    for head_dim in [8, 24, 40, 64, 72, 80, 96, 120, 192, 256] {
        for &kv in KvType::ALL {
            if kv.row_bytes(head_dim).is_ok() {
                let shape = Shape { heads: [6, 3, head_dim], kv, ..both };
                cases.extend([1, 9].map(|rows| case(Quant::F16, DType::F32, rows, shape)));
            }
        }
    }
    cases
}

fn case(quant: Quant, operand: DType, rows: usize, shape: Shape) -> Case {
    let Shape { heads: [heads, kv_heads, head_dim], kv, input_norm, bias, norms } = shape;
    let taken_in = if input_norm { ",norm" } else { "" };
    let cols = 256;
    let name = format!(
        "qkv.{}.{}[{rows},{heads}/{kv_heads}x{head_dim},{},bias={bias},norms={norms}{taken_in}]",
        quant.name(),
        operand.name(),
        kv.name()
    );
    let tolerance = Tolerance::Relative(if kv == KvType::F32 { 5e-5 } else { 1e-2 });
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance);
    let kv = KvTypes { key: kv, value: kv };
    let state = case.cache([kv_heads, head_dim], kv, None, rows.max(64), 0);
    case.sequences(&[SequenceRows { row: 0, rows, sequence: 2, position: 0 }]);
    let x = operand_of(&mut case, operand, Rows::TOKENS, cols);
    let members = [heads, kv_heads, kv_heads]
        .map(|heads| {
            let weight = case.weight(quant, [1, heads * head_dim, cols], 0.1);
            Member::new(weight, bias.then(|| case.vector(heads * head_dim)))
        })
        .to_vec();
    let norms = norms
        .then(|| [(), ()].map(|()| QkNorm { weight: case.vector(head_dim), eps: 1e-6, head_dim }));
    let input_norm = input_norm.then(|| RmsNorm { weight: case.vector(cols), eps: 1e-5 });
    let positions = case.input(Input::Positions);
    let slots = case.input(Input::Slots { group: 0 });
    let rope = rope_of(Pairs::HalfSplit, head_dim, head_dim / 2);
    let q = case.op(Qkv { members, input_norm, norms, rope, state }, &[x, positions, slots])[0];
    let pages = case.input(Input::Pages { group: 0 });
    let work = case.input(Input::Work { group: 0 });
    let scale = 1.0 / (head_dim as f32).sqrt();
    let attention = Attention { state, heads, scale, soft_cap: None, sinks: None };
    case.op(attention, &[q, positions, pages, work]);
    case.finish()
}
