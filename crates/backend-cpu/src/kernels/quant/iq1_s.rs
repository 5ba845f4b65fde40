//! `iq1_s` against q8_k rows: `w = 8 · level ± 1` of levels from a code book, odd scales and a sign
//! per 32; super-blocks of 256 in 50 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one, word};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 50]) -> SuperBlock {
    // A group's word: three high bits of each of its four entries, its scale, its sign.
    let words: [u16; 8] = std::array::from_fn(|g| word(block, 34 + 2 * g));
    let eight = |e: usize| {
        let word = words[e / 4];
        let entry = u16::from(block[2 + e]) | (word >> (e % 4 * 3) & 7) << 8;
        let delta = if word >> 15 == 0 { 1 } else { -1 };
        grid::IQ1[usize::from(entry)].map(|level| 8 * level + delta)
    };
    let values: [[i8; 8]; 32] = std::array::from_fn(eight);
    SuperBlock {
        values: bytemuck::must_cast(values),
        scales: std::array::from_fn(|g| 2 * (words[g / 2] >> 12 & 7) as i16 + 1),
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
    if !integer::iq1_s(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
