//! Cases of `add_norm`.

use minfer_graph::Rows;
use minfer_graph::op::add_norm::AddNorm;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols)| {
        let name = format!("add_norm[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(4 * cols));
        let a = case.bells(Rows::TOKENS, cols);
        let b = case.bells(Rows::TOKENS, cols);
        let weight = case.vector(cols);
        case.op(AddNorm { weight, eps: 1e-5 }, &[a, b]);
        case.finish()
    };
    shapes().into_iter().chain([(1, 576), (2, 2048)]).map(case).collect()
}
