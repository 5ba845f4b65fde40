//! `add`: the sum of two activations.

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, other) = (call.simd, call.output_type(0).cols, call.floats(1)?);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        simd::add(simd, y, &other[row * cols..][..cols]);
    })
}
