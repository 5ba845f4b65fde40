//! `unary`: a function of each element.

use minfer_graph::op::unary::Unary;

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(op: &Unary, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols) = (call.simd, call.output_type(0).cols);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        simd::unary(simd, y, op.function);
    })
}
