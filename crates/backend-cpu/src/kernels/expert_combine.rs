//! `expert_combine`: the weighted sum of the experts' results, in rank order.

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, ranks) = (call.simd, call.output_type(0).cols, call.input_type(1).cols);
    let (x, weights, out) = (call.floats(0)?, call.floats(1)?, call.take::<f32>(0));
    call.each_row(out, cols, |row, y| {
        y.fill(0.0);
        for rank in row * ranks..(row + 1) * ranks {
            simd::axpy(simd, y, &x[rank * cols..][..cols], weights[rank]);
        }
    })
}
