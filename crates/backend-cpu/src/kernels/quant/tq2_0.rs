//! `tq2_0` against q8_k rows: `w = q − 1` of 2 bits; super-blocks of 256 in 66 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
fn read(block: &[u8; 66]) -> SuperBlock {
    // Value 128h + 32j + i: bit 2j of byte 32h + i.
    let value = |v: usize| (block[v / 128 * 32 + v % 32] >> (v % 128 / 32 * 2)) & 3;
    SuperBlock {
        values: std::array::from_fn(|v| value(v) as i8 - 1),
        scales: [1; 16],
        mins: None,
        d: f16(block, 64),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::tq2_0(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
