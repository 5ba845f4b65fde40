//! Cases of `embed`: every format, ids at both ends of the table.

use minfer_graph::op::embed::Embed;
use minfer_quant::Quant;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        let blocks: &[usize] = if quant.block_len() == 1 { &[5, 64] } else { &[1, 3] };
        for blocks in blocks {
            let cols = blocks * quant.block_len();
            cases.push(case(quant, &[0, 8, 3, 3, 1], cols));
        }
    }
    for quant in [Quant::F16, Quant::Q4_K] {
        let cols = if quant.block_len() == 1 { 70 } else { 2 * quant.block_len() };
        let ids = |rows: usize| (0..rows as u32).map(|row| row * 5 % 9).collect::<Vec<u32>>();
        cases.extend(ROWS.map(|rows| case(quant, &ids(rows), cols)));
    }
    cases
}

fn case(quant: Quant, ids: &[u32], cols: usize) -> Case {
    let name = format!("embed.{}[{},{cols}]", quant.name(), ids.len());
    let mut case = CaseBuilder::new(name, tokens(ids.len()), Tolerance::Rounding);
    let weight = case.weight(quant, [1, 9, cols], 1.0);
    let ids = case.tokens(ids);
    case.op(Embed { weight }, &[ids]);
    case.finish()
}
