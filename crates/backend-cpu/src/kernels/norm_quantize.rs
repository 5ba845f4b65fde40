//! `norm_quantize`: a norm whose result is only needed quantized.

use minfer_graph::op::norm_quantize::NormQuantize;
use minfer_plan::{Io, Launch, Unsupported};

use super::quantize_rows::Quantizer;
use crate::call::{Call, TASK_ELEMENTS};
use crate::simd;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn lower(op: &NormQuantize, io: &Io<'_>, threads: usize) -> Result<Launch, Unsupported> {
    let kernel = format!("norm_quantize.{}", op.dtype.name());
    let room = threads * io.inputs[0].cols * size_of::<f32>();
    Ok(Launch::simple(kernel, "the normed row stays in the first cache").with_scratch(room))
}

pub(super) fn run(op: &NormQuantize, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, x) = (call.simd, call.input_type(0).cols, call.floats(0)?);
    let weight = call.weights.vector(op.weight);
    let quantizer = Quantizer::new(simd, op.dtype, cols)?;
    let (out, room) = (call.take::<u8>(0), call.take_scratch::<f32>());
    let band = (TASK_ELEMENTS / cols.max(1)).max(1);
    let stride = quantizer.row_bytes();
    let grid = Grid::new(out, stride, Cuts::Every(band), stride)?;
    call.workers.fill(&[grid], room, &|_, mut rectangle, room| {
        let y = &mut room[..cols];
        for row in rectangle.rows.clone() {
            y.copy_from_slice(&x[row * cols..][..cols]);
            simd::rms_norm(simd, y, weight, op.eps);
            quantizer.run(y, rectangle.row(row));
        }
    })
}
