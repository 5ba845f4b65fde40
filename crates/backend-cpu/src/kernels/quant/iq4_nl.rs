//! `iq4_nl` against q8_0 rows: `w = LEVELS[q]`; blocks of 32 in 18 bytes.

use super::rows::{Q8_0Row, f16, nibbles, one_by_one};
use super::tile::Q8_0Tile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The format's grid, shared with `iq4_xs`.
pub(crate) const LEVELS: [i8; 16] =
    [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let values = |b: &[u8; 18]| nibbles(&b[2..]).map(|q| LEVELS[usize::from(q)]);
    x.chain(row, values, |b| (f16(b, 0), None))
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
    if !integer::iq4_nl(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
