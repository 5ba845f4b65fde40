//! Cases of `mul`.

use minfer_graph::Rows;
use minfer_graph::op::mul::Mul;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols)| {
        let name = format!("mul[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
        let a = case.bells(Rows::TOKENS, cols);
        let b = case.bells(Rows::TOKENS, cols);
        case.op(Mul, &[a, b]);
        case.finish()
    };
    shapes().into_iter().map(case).collect()
}
