//! Cases of `matmul_add`: formats, operands, biases, odd sizes.

use minfer_graph::Rows;
use minfer_graph::op::matmul_add::MatmulAdd;
use minfer_quant::{DType, Quant};

use super::matmul::{operand_of, tolerance};
use super::{quantized_operand, tokens};
use crate::case::{Case, CaseBuilder};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for quant in [Quant::F32, Quant::F16, Quant::Q4_0, Quant::Q8_0, Quant::Q4_K, Quant::Q6_K] {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for (bias, rows) in [(false, 1), (true, 1), (true, 3), (false, 8), (true, 33)] {
                cases.push(case(quant, operand, bias, rows));
            }
        }
    }
    cases
}

fn case(quant: Quant, operand: DType, bias: bool, rows: usize) -> Case {
    let (outputs, cols) = (19, if quant.block_len() == 1 { 70 } else { 256 });
    let name = format!(
        "matmul_add.{}.{}[{rows},{outputs},{cols},bias={bias}]",
        quant.name(),
        operand.name()
    );
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance(cols));
    let x = operand_of(&mut case, operand, Rows::TOKENS, cols);
    let residual = case.bells(Rows::TOKENS, outputs);
    let weight = case.weight(quant, [1, outputs, cols], 1.0);
    let bias = bias.then(|| case.vector(outputs));
    case.op(MatmulAdd { weight, bias }, &[x, residual]);
    case.finish()
}
