//! `quantize_rows`: f32 rows to integer rows with a scale per block.

use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_plan::{Launch, Unsupported};
use minfer_quant::{DType, Planes};

use crate::call::Call;
use crate::simd::{self, Simd};
use crate::sys::Fault;

pub(super) fn lower(op: &QuantizeRows) -> Result<Launch, Unsupported> {
    Ok(Launch::simple(format!("quantize_rows.{}", op.dtype.name()), "row by row"))
}

pub(super) fn run(op: &QuantizeRows, call: &mut Call<'_>) -> Result<(), Fault> {
    let cols = call.input_type(0).cols;
    let (x, out) = (call.floats(0)?, call.take::<u8>(0));
    let quantizer = Quantizer::new(call.simd, op.dtype, cols)?;
    call.each_row(out, quantizer.row_bytes(), |row, to| {
        quantizer.run(&x[row * cols..][..cols], to);
    })
}

/// Writes quantized rows; also the last part of composites.
#[derive(Clone, Copy)]
pub(super) struct Quantizer {
    simd: Simd,
    dtype: DType,
    planes: Planes,
}

impl Quantizer {
    pub(super) fn new(simd: Simd, dtype: DType, cols: usize) -> Result<Quantizer, Fault> {
        let planes = dtype.planes(cols).map_err(|error| Fault::Failed(error.to_string()))?;
        Ok(Quantizer { simd, dtype, planes })
    }

    pub(super) fn row_bytes(&self) -> usize {
        self.planes.bytes()
    }

    pub(super) fn run(&self, x: &[f32], to: &mut [u8]) {
        let [q, scales, sums] = self.planes.split_mut(to).expect("rows are of the output's type");
        let scales = bytemuck::cast_slice_mut(scales);
        match self.dtype {
            DType::Q8_0 => {
                let (q, sums) = (bytemuck::cast_slice_mut(q), bytemuck::cast_slice_mut(sums));
                simd::quantize_q8_0(self.simd, x, q, scales, sums);
            }
            DType::Q8_K => {
                let (q, sums) = (bytemuck::cast_slice_mut(q), bytemuck::cast_slice_mut(sums));
                simd::quantize_q8_k(self.simd, x, q, scales, sums);
            }
            DType::Q16_0 => simd::quantize_q16_0(self.simd, x, bytemuck::cast_slice_mut(q), scales),
            DType::F32 | DType::F16 | DType::BF16 | DType::I32 => {
                debug_assert!(false, "{} is no quantized type", self.dtype.name());
            }
        }
    }
}
