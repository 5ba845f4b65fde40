//! `quantize_rows`: per block and with L = 127 (`q16_0`: 32767) `scale = max |x| / L`, `inverse = L
//! / max |x|` (0 where that is not finite), `q = round_ties_even(x · inverse)`; a block with a NaN
//! or an infinity has scale NaN and q = 0. In f64 mode the elements are rounded to f32 first: what
//! is quantized is the same in both modes.

use minfer_quant::DType;

use crate::real::Real;
use crate::tensor::Tensor;

/// Values in a partial sum of a `q8_k` row; a `q8_0` row has one per block.
const SUM_LEN: usize = 16;

pub(crate) fn run<T: Real>(dtype: DType, x: &Tensor<T>) -> Tensor<T> {
    let cols = x.cols();
    let rows = x.real_rows().flat_map(|row| {
        let row: Vec<f32> = row.iter().map(|x| x.narrow()).collect();
        quantize_row(dtype, &row)
    });
    Tensor::Quantized { dtype, cols, bytes: rows.collect() }
}

/// The planar record of one row: values, scales, sums.
fn quantize_row(dtype: DType, row: &[f32]) -> Vec<u8> {
    let levels = if dtype == DType::Q16_0 { 32767.0 } else { 127.0 };
    let blocks = row.chunks_exact(dtype.block_len());
    let (scales, blocks): (Vec<f32>, Vec<Vec<i16>>) =
        blocks.map(|block| quantize_block(block, levels)).unzip();
    let q = blocks.concat();
    let mut record: Vec<u8> = if dtype == DType::Q16_0 {
        bytemuck::cast_slice(&q).to_vec()
    } else {
        q.iter().map(|&q| (q as i8).cast_unsigned()).collect()
    };
    record.extend_from_slice(bytemuck::cast_slice(&scales));
    let sum = |q: &[i16]| q.iter().map(|&q| i32::from(q)).sum::<i32>();
    if dtype == DType::Q8_0 {
        record.extend(q.chunks_exact(dtype.block_len()).flat_map(|q| sum(q).to_ne_bytes()));
    } else if dtype == DType::Q8_K {
        record.extend(q.chunks_exact(SUM_LEN).flat_map(|q| (sum(q) as i16).to_ne_bytes()));
    }
    record
}

fn quantize_block(block: &[f32], levels: f32) -> (f32, Vec<i16>) {
    let Some(peak) = peak(block) else {
        return (f32::NAN, vec![0; block.len()]);
    };
    let inverse = levels / peak;
    let inverse = if inverse.is_finite() { inverse } else { 0.0 };
    let q = block.iter().map(|x| (x * inverse).round_ties_even() as i16);
    (peak / levels, q.collect())
}

/// The largest magnitude of a block; `None` where an element is NaN or infinite.
pub(crate) fn peak(block: &[f32]) -> Option<f32> {
    let finite = block.iter().all(|x| x.is_finite());
    finite.then(|| block.iter().fold(0.0, |peak, x| x.abs().max(peak)))
}
