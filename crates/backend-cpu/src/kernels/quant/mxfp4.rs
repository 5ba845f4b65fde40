//! `mxfp4` against q8_0 rows: `w = LEVELS[q]`, the doubled values, with half the scale; blocks of
//! 32 in 17 bytes.

use super::rows::{Q8_0Row, nibbles, one_by_one};
use super::tile::Q8_0Tile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The E2M1 values, doubled.
pub(crate) const LEVELS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// 2^(e − 128), from the scale's byte.
pub(crate) fn half_scale(e: u8) -> f32 {
    let bits = match e {
        // Below 2^-126: subnormal.
        0 => 1 << 21,
        1 => 1 << 22,
        normal => (u32::from(normal) - 1) << 23,
    };
    f32::from_bits(bits)
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let values = |b: &[u8; 17]| nibbles(&b[1..]).map(|q| LEVELS[usize::from(q)]);
    x.chain(row, values, |b| (half_scale(b[0]), None))
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
    if !integer::mxfp4(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
