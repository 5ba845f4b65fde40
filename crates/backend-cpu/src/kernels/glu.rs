//! `glu`: a gated linear unit's product.

use minfer_graph::op::glu::Glu;

use crate::call::Call;
use crate::simd;
use crate::sys::Fault;

pub(super) fn run(op: &Glu, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, up) = (call.simd, call.output_type(0).cols, call.floats(1)?);
    let (out, source) = call.take_in_place()?;
    call.each_row(out, cols, |row, y| {
        source.fill(row, y);
        simd::glu(simd, y, &up[row * cols..][..cols], op.function);
    })
}
