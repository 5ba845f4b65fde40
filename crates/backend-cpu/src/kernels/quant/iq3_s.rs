//! `iq3_s` against q8_k rows: `w = ±level` of levels from a code book, odd scales per 32;
//! super-blocks of 256 in 110 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, f16, half_byte, one_by_one, with_signs};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 110]) -> SuperBlock {
    let four = |e: usize| {
        let high = block[66 + e / 8] >> (e % 8) & 1;
        let entry = usize::from(block[2 + e]) | usize::from(high) << 8;
        with_signs(&grid::IQ3_S[entry], half_byte(&block[74..106], e))
    };
    let values: [[i8; 4]; 64] = std::array::from_fn(four);
    SuperBlock {
        values: bytemuck::must_cast(values),
        scales: std::array::from_fn(|g| 2 * i16::from(half_byte(&block[106..], g / 2)) + 1),
        mins: None,
        d: f16(block, 0),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::iq3_s(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
