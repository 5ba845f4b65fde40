//! Cases of `argmax`: ties, infinities, a NaN row, sizes round vector widths, rows round tiles.

use minfer_graph::op::argmax::Argmax;
use minfer_graph::{Counts, Rows};

use super::{COLS, ROWS};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let widths = COLS.into_iter().chain([49_152]).map(special);
    widths.chain(ROWS.map(many)).collect()
}

/// Rows with ties, an infinity, infinities alone, a NaN.
fn special(cols: usize) -> Case {
    let counts = Counts { tokens: 1, outputs: 4 };
    let mut case = CaseBuilder::new(format!("argmax[4,{cols}]"), counts, Tolerance::Exact);
    let mut values = ties(&mut case, 4 * cols);
    values[cols] = f32::INFINITY;
    values[2 * cols..3 * cols].fill(f32::NEG_INFINITY);
    values[4 * cols - 1] = f32::NAN;
    let x = case.floats(Rows::OUTPUTS, cols, &values);
    case.op(Argmax, &[x]);
    case.finish()
}

fn many(rows: usize) -> Case {
    let counts = Counts { tokens: 1, outputs: rows };
    let mut case = CaseBuilder::new(format!("argmax[{rows},70]"), counts, Tolerance::Exact);
    let values = ties(&mut case, rows * 70);
    let x = case.floats(Rows::OUTPUTS, 70, &values);
    case.op(Argmax, &[x]);
    case.finish()
}

fn ties(case: &mut CaseBuilder, count: usize) -> Vec<f32> {
    (0..count).map(|_| case.seeded().below(50) as f32 - 25.0).collect()
}
