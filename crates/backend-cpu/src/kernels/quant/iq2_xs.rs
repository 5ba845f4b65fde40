//! `iq2_xs` against q8_k rows: `w = ±level` of levels from a code book, odd scales per 16;
//! super-blocks of 256 in 74 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, f16, half_byte, one_by_one, with_signs, word};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 74]) -> SuperBlock {
    // 9 bits of an entry, 7 of its signs.
    let eight = |e: usize| {
        let word = word(block, 2 + 2 * e);
        with_signs(&grid::IQ2_XS[usize::from(word % 512)], grid::signs((word >> 9) as u8))
    };
    let values: [[i8; 8]; 32] = std::array::from_fn(eight);
    SuperBlock {
        values: bytemuck::must_cast(values),
        scales: std::array::from_fn(|g| 2 * i16::from(half_byte(&block[66..], g)) + 1),
        mins: None,
        d: f16(block, 0) * 0.125,
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::iq2_xs(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
