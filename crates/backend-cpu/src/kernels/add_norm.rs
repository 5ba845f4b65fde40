//! `add_norm`: a residual connection and the norm that follows it.

use minfer_graph::op::add_norm::AddNorm;

use crate::call::{Call, TASK_ELEMENTS};
use crate::simd;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn run(op: &AddNorm, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, other) = (call.simd, call.output_type(0).cols, call.floats(1)?);
    let weight = call.weights.vector(op.weight);
    let (sum, source) = call.take_in_place()?;
    let band = (TASK_ELEMENTS / cols.max(1)).max(1);
    let sums = Grid::new(sum, cols, Cuts::Every(band), cols)?;
    let norms = Grid::new(call.take::<f32>(1), cols, Cuts::Every(band), cols)?;
    call.workers.pairs(&sums, &norms, &|mut sums, mut norms| {
        for row in sums.rows.clone() {
            let (s, y) = (sums.row(row), norms.row(row));
            source.fill(row, s);
            simd::add(simd, s, &other[row * cols..][..cols]);
            y.copy_from_slice(s);
            simd::rms_norm(simd, y, weight, op.eps);
        }
    })
}
