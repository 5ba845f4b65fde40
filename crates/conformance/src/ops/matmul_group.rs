//! Cases of `matmul_group`: members of one format and of several, of one operand type and of two.

use minfer_graph::Rows;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_quant::{DType, Quant};

use super::matmul::tolerance;
use super::{ROWS, quantized_operand, tokens};
use crate::case::{Case, CaseBuilder};

/// Formats of q and k, and of v, as files mix them.
const MIXED: [[Quant; 2]; 10] = [
    [Quant::Q5_0, Quant::Q8_0],
    [Quant::Q5_1, Quant::Q8_0],
    [Quant::Q2_K, Quant::Q3_K],
    [Quant::Q2_K, Quant::Q4_K],
    [Quant::Q3_K, Quant::Q4_K],
    [Quant::Q3_K, Quant::Q5_K],
    [Quant::Q4_K, Quant::Q5_K],
    [Quant::Q4_K, Quant::Q6_K],
    [Quant::Q5_K, Quant::Q6_K],
    [Quant::IQ4_XS, Quant::Q5_K],
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for rows in [1, 2] {
        for [first, third] in MIXED {
            cases.push(case(rows, &[first, first, third], false));
        }
    }
    for rows in [1, 2, 9, 17, 33] {
        for &quant in Quant::ALL {
            cases.push(case(rows, &[quant, quant], true));
        }
        cases.push(case(rows, &[Quant::Q4_0, Quant::Q8_0, Quant::Q4_1], true));
        cases.push(case(rows, &[Quant::Q4_K, Quant::Q4_K, Quant::Q6_K], true));
        cases.push(case(rows, &[Quant::Q4_K, Quant::Q5_0, Quant::Q6_K], true));
        cases.push(case(rows, &[Quant::F16, Quant::Q8_0, Quant::F32], false));
    }
    let rows = ROWS.into_iter().filter(|rows| ![1, 2, 9, 17, 33].contains(rows));
    cases.extend(rows.map(|rows| case(rows, &[Quant::Q4_K, Quant::Q4_K, Quant::Q6_K], true)));
    cases
}

fn case(rows: usize, formats: &[Quant], quantize: bool) -> Case {
    let cols = 512;
    let names: Vec<&str> = formats.iter().map(|q| q.name()).collect();
    let exact = if quantize { "" } else { ",f32" };
    let name = format!("matmul_group.{}[{rows},{cols}{exact}]", names.join("/"));
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance(cols));
    let x = case.bells(Rows::TOKENS, cols);
    let mut types: Vec<DType> = Vec::new();
    let mut operands = Vec::new();
    let mut members = Vec::new();
    for (index, &quant) in formats.iter().enumerate() {
        let dtype = quantized_operand(quant).filter(|_| quantize).unwrap_or(DType::F32);
        let operand = types.iter().position(|t| *t == dtype).unwrap_or_else(|| {
            let quantized = match dtype {
                DType::F32 => x,
                _integers => case.node(QuantizeRows { dtype }, &[x])[0],
            };
            types.push(dtype);
            operands.push(quantized);
            types.len() - 1
        });
        let outputs = [24, 7, 17][index];
        let weight = case.weight(quant, [1, outputs, cols], 1.0);
        let bias = (index == 1).then(|| case.vector(outputs));
        members.push(Member { weight, bias, operand });
    }
    case.op(MatmulGroup { members }, &operands);
    case.finish()
}
