//! Cases of `norm_add`.

use minfer_graph::Rows;
use minfer_graph::op::norm_add::NormAdd;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols)| {
        let name = format!("norm_add[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(4 * cols));
        let x = case.bells(Rows::TOKENS, cols);
        let residual = case.bells(Rows::TOKENS, cols);
        let weight = case.vector(cols);
        case.op(NormAdd { weight, eps: 1e-5 }, &[x, residual]);
        case.finish()
    };
    shapes().into_iter().chain([(1, 576), (2, 2048)]).map(case).collect()
}
