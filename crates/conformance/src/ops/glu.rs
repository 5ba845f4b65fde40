//! Cases of `glu`.

use minfer_graph::Rows;
use minfer_graph::op::glu::Glu;

use super::unary::{FUNCTIONS, tolerance};
use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for function in FUNCTIONS {
        for (rows, cols) in shapes() {
            let name = format!("glu.{}[{rows},{cols}]", function.name());
            let mut case = CaseBuilder::new(name, tokens(rows), tolerance(function));
            let gate = case.bells(Rows::TOKENS, cols);
            let up = case.bells(Rows::TOKENS, cols);
            case.op(Glu { function }, &[gate, up]);
            cases.push(case.finish());
        }
    }
    cases
}
