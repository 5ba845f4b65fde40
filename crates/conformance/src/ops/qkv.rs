//! Cases of `qkv`: formats, biases, norms; what it stores is read back through `attention`.

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
use super::{quantized_operand, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for quant in [Quant::F32, Quant::F16, Quant::Q4_1, Quant::Q8_0, Quant::Q4_K] {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for (bias, norms) in [(false, false), (true, false), (false, true)] {
                for rows in [1, 9, 33] {
                    cases.push(case(quant, operand, [false, bias, norms], rows));
                }
                if operand == DType::F32 {
                    cases.push(case(quant, operand, [true, bias, norms], 5));
                }
            }
        }
    }
    cases
}

fn case(quant: Quant, operand: DType, [input_norm, bias, norms]: [bool; 3], rows: usize) -> Case {
    let (heads, kv_heads, head_dim, cols) = (4, 2, 32, 256);
    let taken_in = if input_norm { ",norm" } else { "" };
    let (weights, operands) = (quant.name(), operand.name());
    let name = format!("qkv.{weights}.{operands}[{rows},bias={bias},norms={norms}{taken_in}]");
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Relative(5e-5));
    let kv = KvTypes { key: KvType::F32, value: KvType::F32 };
    let state = case.cache([kv_heads, head_dim], kv, None, 64, 0);
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
