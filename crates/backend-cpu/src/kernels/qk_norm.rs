//! `qk_norm`: `rms_norm` of each head's part of a row.

use minfer_graph::op::qk_norm::QkNorm;

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(op: &QkNorm, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols) = (call.simd, call.output_type(0).cols);
    let weight = call.weights.vector(op.weight);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        for head in y.chunks_mut(op.head_dim) {
            simd::rms_norm(simd, head, weight, op.eps);
        }
    })
}
