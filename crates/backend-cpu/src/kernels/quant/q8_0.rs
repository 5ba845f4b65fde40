//! `q8_0` against q8_0 rows, and against q16_0 rows where an op asks for fine activations: `w = q`,
//! a signed byte; blocks of 32 in 34 bytes.

use super::rows::{Q8_0Row, Q16_0Row, f16, one_by_one};
use super::tile::Q8_0Tile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let values = |b: &[u8; 34]| std::array::from_fn(|i| b[2 + i].cast_signed());
    x.chain(row, values, |b| (f16(b, 0), None))
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
    if !integer::q8_0(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}

/// The dot product with a q16_0 row in plain code.
fn dot_q16_0(row: &[u8], x: &Q16_0Row<'_>) -> f32 {
    let blocks = row.as_chunks::<34>().0.iter().zip(x.q.iter().zip(x.scales));
    blocks.fold(0.0_f32, |acc, (block, (x, scale))| {
        let products =
            block[2..].iter().zip(x).map(|(w, x)| i32::from(w.cast_signed()) * i32::from(*x));
        (products.sum::<i32>() as f32).mul_add(f16(block, 0) * scale, acc)
    })
}

/// Rows of a tile with q16_0 rows; `acc` is zero at first.
pub(crate) fn dots_q16_0(simd: Simd, rows: &Rows<'_>, xs: &[Q16_0Row<'_>], acc: &mut [Sums]) {
    if !integer::q8_0_q16_0(simd, rows, xs, acc) {
        one_by_one(rows, xs, acc, dot_q16_0);
    }
}
