//! Cases of `unary`: each function over shapes, and over the range of its argument.

use minfer_graph::op::unary::Unary;
use minfer_graph::{Activation, Rows};

use super::{shapes, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) const FUNCTIONS: [Activation; 3] =
    [Activation::Silu, Activation::Gelu, Activation::SoftCap(30.0)];

/// A soft cap is accurate to a share of the cap, which is larger than the elements here.
pub(super) fn tolerance(function: Activation) -> Tolerance {
    match function {
        Activation::SoftCap(cap) => Tolerance::Relative(cap * 2e-5),
        Activation::Silu | Activation::Gelu => Tolerance::Relative(1e-6),
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for function in FUNCTIONS {
        for (rows, cols) in shapes() {
            let name = format!("unary.{}[{rows},{cols}]", function.name());
            let mut case = CaseBuilder::new(name, tokens(rows), tolerance(function));
            let x = case.bells(Rows::TOKENS, cols);
            case.op(Unary { function }, &[x]);
            cases.push(case.finish());
        }
        cases.push(range(function));
    }
    cases
}

/// Every magnitude from 2^-30 to 2^14 with both signs, zeros, infinities and NaN.
fn range(function: Activation) -> Case {
    let name = format!("unary.{}[range]", function.name());
    let mut values: Vec<f32> = (-240..112)
        .flat_map(|eighths| {
            let magnitude = (eighths as f32 / 8.0).exp2();
            [magnitude, -magnitude]
        })
        .collect();
    values.extend([0.0, -0.0, f32::INFINITY, f32::NAN, f32::MIN_POSITIVE, -87.4, -103.9, 88.7]);
    let mut case = CaseBuilder::new(name, tokens(1), Tolerance::Relative(1e-6));
    let x = case.floats(Rows::TOKENS, values.len(), &values);
    case.op(Unary { function }, &[x]);
    case.finish()
}
