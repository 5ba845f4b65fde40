//! `q5_1` against q8_0 rows: `w = q`, q of 5 bits, plus a minimum; blocks of 32 in 24 bytes.

use super::rows::{Q8_0Row, f16, five_bits, one_by_one};
use super::tile::Q8_0Tile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let values = |b: &[u8; 24]| five_bits(&b[4..]).map(|q| q as i8);
    x.chain(row, values, |b| (f16(b, 0), Some(f16(b, 2))))
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
    if !integer::q5_1(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
