//! `iq3_xxs` against q8_k rows: `w = ±level` of levels from a code book, odd scales per 32;
//! super-blocks of 256 in 98 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one, with_signs};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Signs of a group's four eights, 7 bits each, and its scale in the top 4.
fn signs_and_scale(block: &[u8; 98], group: usize) -> u32 {
    let at = 66 + 4 * group;
    u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]])
}

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 98]) -> SuperBlock {
    let four = |e: usize| {
        let signs = grid::signs((signs_and_scale(block, e / 8) >> (e % 8 / 2 * 7)) as u8);
        with_signs(&grid::IQ3_XXS[usize::from(block[2 + e])], signs >> (e % 2 * 4))
    };
    let values: [[i8; 4]; 64] = std::array::from_fn(four);
    SuperBlock {
        values: bytemuck::must_cast(values),
        scales: std::array::from_fn(|g| 2 * (signs_and_scale(block, g / 2) >> 28) as i16 + 1),
        mins: None,
        d: f16(block, 0) * 0.25,
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::iq3_xxs(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
