//! `iq4_xs` against q8_k rows: `w = LEVELS[q]`, signed scales of 6 bits per 32; super-blocks of 256
//! in 136 bytes.

use super::iq4_nl::LEVELS;
use super::rows::{Q8KRow, SuperBlock, f16, nibbles, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Scales of the eight groups, from -32 to 31.
pub(crate) fn scales(block: &[u8; 136]) -> [i16; 8] {
    let top = u16::from_le_bytes([block[2], block[3]]);
    std::array::from_fn(|g| {
        let low = (block[4 + g / 2] >> (g % 2 * 4)) & 15;
        i16::from(low) + ((top >> (2 * g)) & 3) as i16 * 16 - 32
    })
}

/// The numbers of a super-block.
fn read(block: &[u8; 136]) -> SuperBlock {
    let scales = scales(block);
    let values: [[u8; 32]; 8] = std::array::from_fn(|g| nibbles(&block[8 + 16 * g..]));
    SuperBlock {
        values: std::array::from_fn(|v| LEVELS[usize::from(values[v / 32][v % 32])]),
        scales: std::array::from_fn(|g| scales[g / 2]),
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
    if !integer::iq4_xs(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
