//! Cases of `embed`: every format, ids at both ends of the table.

use minfer_graph::op::embed::Embed;
use minfer_quant::Quant;

use super::tokens;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        let blocks: &[usize] = if quant.block_len() == 1 { &[5, 64] } else { &[1, 3] };
        for blocks in blocks {
            let cols = blocks * quant.block_len();
            let name = format!("embed.{}[3,{cols}]", quant.name());
            let mut case = CaseBuilder::new(name, tokens(5), Tolerance::Rounding);
            let weight = case.weight(quant, [1, 9, cols], 1.0);
            let ids = case.tokens(&[0, 8, 3, 3, 1]);
            case.op(Embed { weight }, &[ids]);
            cases.push(case.finish());
        }
    }
    cases
}
