//! Cases of `softmax`.

use minfer_graph::Rows;
use minfer_graph::op::softmax::Softmax;

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols): (usize, usize)| {
        let name = format!("softmax[{rows},{cols}]");
        let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Relative(1e-5));
        let values: Vec<f32> =
            case.seeded().bells(rows * cols).into_iter().map(|v| v * 8.0).collect();
        let x = case.floats(Rows::TOKENS, cols, &values);
        case.op(Softmax, &[x]);
        case.finish()
    };
    shapes().into_iter().map(case).collect()
}
