//! `rms_norm`: each row divided by its root mean square, times a weight.

use minfer_graph::op::rms_norm::RmsNorm;

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(op: &RmsNorm, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols) = (call.simd, call.output_type(0).cols);
    let weight = call.weights.vector(op.weight);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        simd::rms_norm(simd, y, weight, op.eps);
    })
}
