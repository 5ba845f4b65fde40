//! Cases of `rms_norm`.

use minfer_graph::Rows;
use minfer_graph::op::rms_norm::RmsNorm;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let wide = [(1, 576), (2, 640), (3, 4096)];
    let case = |(rows, cols)| {
        let name = format!("rms_norm[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(cols));
        let x = case.bells(Rows::TOKENS, cols);
        let weight = case.vector(cols);
        case.op(RmsNorm { weight, eps: 1e-5 }, &[x]);
        case.finish()
    };
    shapes().into_iter().chain(wide).map(case).collect()
}
