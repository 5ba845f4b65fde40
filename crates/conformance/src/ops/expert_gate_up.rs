//! Cases of `expert_gate_up`: one row a token and one a choice, repeated experts.

use minfer_graph::op::expert_gate_up::ExpertGateUp;
use minfer_graph::{Activation, Counts, Rows};
use minfer_quant::{DType, Quant};

use super::matmul::operand_of;
use super::quantized_operand;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

const EXPERTS: usize = 5;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for (rows, used, spread) in [(1, 1, false), (1, 4, false), (3, 2, true), (12, 2, false)]
            {
                cases.push(case(quant, operand, rows, used, spread));
            }
        }
    }
    cases
}

fn case(quant: Quant, operand: DType, rows: usize, used: usize, spread: bool) -> Case {
    let cols = if quant.block_len() == 1 { 48 } else { 2 * quant.block_len() };
    let x_rows = if spread { Rows::TOKENS.times(used) } else { Rows::TOKENS };
    let name = format!(
        "expert_gate_up.{}.{}[{x_rows}={rows},{used} of {EXPERTS},{cols}]",
        quant.name(),
        operand.name()
    );
    let counts = Counts { tokens: rows, outputs: rows };
    let mut case = CaseBuilder::new(name, counts, Tolerance::Relative(2e-5));
    let x = operand_of(&mut case, operand, x_rows, cols);
    let chosen: Vec<i32> = (0..rows * used).map(|_| case.seeded().below(EXPERTS) as i32).collect();
    let chosen = case.integers(Rows::TOKENS, used, &chosen);
    let [gate, up] = [(), ()].map(|()| case.weight(quant, [EXPERTS, 11, cols], 0.3));
    case.op(ExpertGateUp { gate, up, function: Activation::Silu }, &[x, chosen]);
    case.finish()
}
