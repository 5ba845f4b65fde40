//! `q8_k` against q8_k rows: `w = q`, a signed byte, with an f32 scale; super-blocks of 256 in 292
//! bytes.

use super::rows::{Q8KRow, SuperBlock, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
fn read(block: &[u8; 292]) -> SuperBlock {
    SuperBlock {
        values: std::array::from_fn(|v| block[4 + v].cast_signed()),
        scales: [1; 16],
        mins: None,
        d: f32::from_le_bytes([block[0], block[1], block[2], block[3]]),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q8_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
