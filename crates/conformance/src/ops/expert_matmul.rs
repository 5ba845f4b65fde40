//! Cases of `expert_matmul`: one row a token and one a choice, repeated experts, token and output
//! rows.

use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_graph::{Counts, Rows};
use minfer_quant::{DType, Quant};

use super::matmul::{operand_of, tolerance};
use super::{ROWS, quantized_operand};
use crate::case::{Case, CaseBuilder};

const EXPERTS: usize = 5;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        for operand in [Some(DType::F32), quantized_operand(quant)].into_iter().flatten() {
            for (rows, used) in [(1, 1), (1, 4), (3, 2), (17, 2)] {
                cases.push(case(quant, operand, Rows::TOKENS, [rows, used, EXPERTS], false));
                if used > 1 {
                    cases.push(case(quant, operand, Rows::TOKENS, [rows, used, EXPERTS], true));
                }
            }
            cases.push(case(quant, operand, Rows::OUTPUTS, [3, 2, EXPERTS], true));
        }
    }
    for quant in [Quant::F16, Quant::Q4_K] {
        let rows = ROWS.into_iter().filter(|rows| ![1, 3, 17].contains(rows));
        cases.extend(
            rows.map(|rows| case(quant, DType::F32, Rows::TOKENS, [rows, 2, EXPERTS], false)),
        );
    }
    // More experts than a simdgroup has lanes.
    cases.push(case(Quant::F16, DType::F32, Rows::TOKENS, [17, 2, 40], false));
    cases
}

fn case(
    quant: Quant,
    operand: DType,
    base: Rows,
    [rows, used, experts]: [usize; 3],
    spread: bool,
) -> Case {
    let cols = if quant.block_len() == 1 { 48 } else { 2 * quant.block_len() };
    let x_rows = if spread { base.times(used) } else { base };
    let name = format!(
        "expert_matmul.{}.{}[{x_rows}={rows},{used} of {experts},{cols}]",
        quant.name(),
        operand.name()
    );
    let mut case = CaseBuilder::new(name, Counts { tokens: rows, outputs: rows }, tolerance(cols));
    let x = operand_of(&mut case, operand, x_rows, cols);
    let chosen: Vec<i32> = (0..rows * used).map(|_| case.seeded().below(experts) as i32).collect();
    let chosen = case.integers(base, used, &chosen);
    let weight = case.weight(quant, [experts, 11, cols], 1.0);
    case.op(ExpertMatmul { weight }, &[x, chosen]);
    case.finish()
}
