//! Cases of `qk_norm`.

use minfer_graph::Rows;
use minfer_graph::op::qk_norm::QkNorm;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for head_dim in [8, 16, 24, 40, 64, 72, 80, 96, 120, 128, 192, 256] {
        for (rows, heads) in [(1, 1), (1, 9), (3, 4), (17, 2)] {
            cases.push(case(rows, heads, head_dim));
        }
    }
    cases.extend(ROWS.map(|rows| case(rows, 3, 40)));
    cases
}

fn case(rows: usize, heads: usize, head_dim: usize) -> Case {
    let name = format!("qk_norm[{rows},{heads}x{head_dim}]");
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(head_dim));
    let x = case.bells(Rows::TOKENS, heads * head_dim);
    let weight = case.vector(head_dim);
    case.op(QkNorm { weight, eps: 1e-6, head_dim }, &[x]);
    case.finish()
}
