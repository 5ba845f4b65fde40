//! `softmax`: each row to probabilities.

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols) = (call.simd, call.output_type(0).cols);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        simd::softmax(simd, y);
    })
}
