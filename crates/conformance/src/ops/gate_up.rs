//! Cases of `gate_up`.

use minfer_graph::op::gate_up::GateUp;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::{Activation, Rows};
use minfer_quant::{DType, Quant};

use super::matmul::operand_of;
use super::{ROWS, quantized_operand, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for function in [Activation::Silu, Activation::Gelu] {
                for rows in [1, 9, 33] {
                    cases.push(case(quant, operand, function, rows, false));
                }
                if operand == DType::F32 {
                    cases.push(case(quant, operand, function, 2, true));
                }
            }
        }
    }
    for quant in [Quant::F16, Quant::Q4_K] {
        let rows = ROWS.into_iter().filter(|rows| ![1, 9, 33].contains(rows));
        cases.extend(rows.map(|rows| case(quant, DType::F32, Activation::Silu, rows, false)));
    }
    cases
}

fn case(quant: Quant, operand: DType, function: Activation, rows: usize, norm: bool) -> Case {
    let cols = if quant.block_len() == 1 { 70 } else { 2 * quant.block_len() };
    let name = format!(
        "gate_up.{}.{}.{}[{rows},17,{cols}{}]",
        quant.name(),
        operand.name(),
        function.name(),
        if norm { ",norm" } else { "" }
    );
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Relative(2e-5));
    let x = operand_of(&mut case, operand, Rows::TOKENS, cols);
    let members =
        (0..2).map(|_| Member::new(case.weight(quant, [1, 17, cols], 0.3), None)).collect();
    let input_norm = norm.then(|| RmsNorm { weight: case.vector(cols), eps: 1e-5 });
    case.op(GateUp { members, input_norm, function }, &[x]);
    case.finish()
}
