//! `q3_k` against q8_k rows: `w = q − 4` of 3 bits, signed scales of 6 bits per 16; super-blocks of
//! 256 in 110 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Scales of the 16 groups, from -32 to 31: low halves in bytes g % 8, top bits in bytes 8 + g % 4.
pub(crate) fn scales(block: &[u8; 110]) -> [i16; 16] {
    let packed = &block[96..108];
    std::array::from_fn(|g| {
        let low = (packed[g % 8] >> (g / 8 * 4)) & 15;
        let high = (packed[8 + g % 4] >> (g / 4 * 2)) & 3;
        i16::from(low | high << 4) - 32
    })
}

/// The numbers of a super-block.
fn read(block: &[u8; 110]) -> SuperBlock {
    // Value 128h + 32j + i: bit 2j of byte 32h + i; value 32j + i: bit j of byte i of the mask.
    let low = |v: usize| (block[32 + v / 128 * 32 + v % 32] >> (v % 128 / 32 * 2)) & 3;
    let high = |v: usize| (block[v % 32] >> (v / 32)) & 1;
    SuperBlock {
        values: std::array::from_fn(|v| (low(v) | high(v) << 2) as i8 - 4),
        scales: scales(block),
        mins: None,
        d: f16(block, 108),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q3_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
