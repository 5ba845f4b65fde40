//! Cases of `add`.

use minfer_graph::Rows;
use minfer_graph::op::add::Add;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols)| {
        let name = format!("add[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
        let a = case.bells(Rows::TOKENS, cols);
        let b = case.bells(Rows::TOKENS, cols);
        case.op(Add, &[a, b]);
        case.finish()
    };
    shapes().into_iter().map(case).collect()
}
