//! `q5_k` against q8_k rows: `w = q` of 5 bits, scales and minima of 6 bits per 32; super-blocks of
//! 256 in 176 bytes.

use super::q4_k;
use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// The numbers of a super-block.
fn read(block: &[u8; 176]) -> SuperBlock {
    let packed = block[4..16].try_into().expect("twelve bytes");
    let (scales, mins) = q4_k::scales(packed);
    // Low bits as in q4_k; value 32j + i has its top bit at bit j of byte i.
    let low = |v: usize| (block[48 + v / 64 * 32 + v % 32] >> (v % 64 / 32 * 4)) & 15;
    let high = |v: usize| (block[16 + v % 32] >> (v / 32)) & 1;
    SuperBlock {
        values: std::array::from_fn(|v| (low(v) | high(v) << 4) as i8),
        scales: std::array::from_fn(|g| scales[g / 2]),
        mins: Some((std::array::from_fn(|g| mins[g / 2]), f16(block, 2))),
        d: f16(block, 0),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q5_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
