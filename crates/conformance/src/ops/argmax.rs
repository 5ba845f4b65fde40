//! Cases of `argmax`: ties, infinities, a NaN row, sizes round vector widths.

use minfer_graph::op::argmax::Argmax;
use minfer_graph::{Counts, Rows};

use super::COLS;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let counts = Counts { tokens: 1, outputs: 4 };
    COLS.into_iter()
        .chain([49_152])
        .map(|cols| {
            let name = format!("argmax[4,{cols}]");
            let mut case = CaseBuilder::new(name, counts, Tolerance::Exact);
            let mut values: Vec<f32> =
                (0..4 * cols).map(|_| case.seeded().below(50) as f32 - 25.0).collect();
            values[cols] = f32::INFINITY;
            values[2 * cols..3 * cols].fill(f32::NEG_INFINITY);
            values[4 * cols - 1] = f32::NAN;
            let x = case.floats(Rows::OUTPUTS, cols, &values);
            case.op(Argmax, &[x]);
            case.finish()
        })
        .collect()
}
