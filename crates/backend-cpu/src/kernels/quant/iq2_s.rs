//! `iq2_s` against q8_k rows: `w = ±level` of levels from a code book, odd scales per 16;
//! super-blocks of 256 in 82 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, f16, half_byte, one_by_one, with_signs};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 82]) -> SuperBlock {
    let eight = |e: usize| {
        let high = block[66 + e / 4] >> (e % 4 * 2) & 3;
        let entry = usize::from(block[2 + e]) | usize::from(high) << 8;
        with_signs(&grid::IQ2_S[entry], block[34 + e])
    };
    let values: [[i8; 8]; 32] = std::array::from_fn(eight);
    SuperBlock {
        values: bytemuck::must_cast(values),
        scales: std::array::from_fn(|g| 2 * i16::from(half_byte(&block[74..], g)) + 1),
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
    if !integer::iq2_s(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
