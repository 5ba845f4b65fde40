//! Cases of `qk_norm`.

use minfer_graph::Rows;
use minfer_graph::op::qk_norm::QkNorm;

use super::tokens;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for head_dim in [8, 16, 24, 64, 80, 96, 128, 256] {
        for (rows, heads) in [(1, 1), (1, 9), (3, 4), (17, 2)] {
            let name = format!("qk_norm[{rows},{heads}x{head_dim}]");
            let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(head_dim));
            let x = case.bells(Rows::TOKENS, heads * head_dim);
            let weight = case.vector(head_dim);
            case.op(QkNorm { weight, eps: 1e-6, head_dim }, &[x]);
            cases.push(case.finish());
        }
    }
    cases
}
