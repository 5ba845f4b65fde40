//! `q6_k` against q8_k rows: `w = q − 32` of 6 bits, signed bytes as scales per 16; super-blocks of
//! 256 in 210 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Scales of the 16 groups.
pub(crate) fn scales(block: &[u8; 210]) -> [i16; 16] {
    std::array::from_fn(|g| i16::from(block[192 + g].cast_signed()))
}

/// The numbers of a super-block.
fn read(block: &[u8; 210]) -> SuperBlock {
    // Value 128h + i: byte 64h + i % 64, the low half for i < 64; its top bits at bit 2j of byte
    // 32h + i % 32.
    let low = |v: usize| (block[v / 128 * 64 + v % 64] >> (v % 128 / 64 * 4)) & 15;
    let high = |v: usize| (block[128 + v / 128 * 32 + v % 32] >> (v % 128 / 32 * 2)) & 3;
    SuperBlock {
        values: std::array::from_fn(|v| (low(v) | high(v) << 4) as i8 - 32),
        scales: scales(block),
        mins: None,
        d: f16(block, 208),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q6_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
