//! `iq1_m` against q8_k rows: `w = 8 · level ± 1` of levels from a code book, a sign per 8, odd
//! scales per 16; super-blocks of 256 in 56 bytes.

use minfer_quant::grid;

use super::rows::{Q8KRow, SuperBlock, half_byte, one_by_one, word};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The scale, whose bits are the tops of four words, and the odd scales of the 16 groups.
pub(crate) fn scales(block: &[u8; 56]) -> (f32, [i16; 16]) {
    let words: [u16; 4] = std::array::from_fn(|k| word(block, 48 + 2 * k));
    let [a, b, c, d] = words.map(|word| word >> 12);
    let scale = minfer_quant::f16_to_f32(a | b << 4 | c << 8 | d << 12);
    (scale, std::array::from_fn(|g| 2 * (words[g / 4] >> (g % 4 * 3) & 7) as i16 + 1))
}

/// The numbers of a super-block.
pub(crate) fn read(block: &[u8; 56]) -> SuperBlock {
    let eight = |e: usize| {
        let high = half_byte(&block[32..48], e);
        let entry = usize::from(block[e]) | usize::from(high & 7) << 8;
        let delta = if high & 8 == 0 { 1 } else { -1 };
        grid::IQ1[entry].map(|level| 8 * level + delta)
    };
    let values: [[i8; 8]; 32] = std::array::from_fn(eight);
    let (d, scales) = scales(block);
    SuperBlock { values: bytemuck::must_cast(values), scales, mins: None, d: d * 0.125 }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::iq1_m(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
