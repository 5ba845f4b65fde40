//! Cases of `scale`.

use minfer_graph::Rows;
use minfer_graph::op::scale::Scale;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols)| {
        let name = format!("scale[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
        let x = case.bells(Rows::TOKENS, cols);
        case.op(Scale { factor: 25.298_222 }, &[x]);
        case.finish()
    };
    shapes().into_iter().map(case).collect()
}
