//! `q2_k` against q8_k rows: `w = q` of 2 bits, scales and minima of 4 bits per 16; super-blocks of
//! 256 in 84 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Scales and minima of the 16 groups.
pub(crate) fn scales(block: &[u8; 84]) -> ([i16; 16], [i16; 16]) {
    let part = |shift: u32| std::array::from_fn(|g| i16::from((block[g] >> shift) & 15));
    (part(0), part(4))
}

/// The numbers of a super-block.
fn read(block: &[u8; 84]) -> SuperBlock {
    let (scales, mins) = scales(block);
    // Value 128h + 32j + i: bit 2j of byte 32h + i.
    let value = |v: usize| (block[16 + v / 128 * 32 + v % 32] >> (v % 128 / 32 * 2)) & 3;
    SuperBlock {
        values: std::array::from_fn(|v| value(v) as i8),
        scales,
        mins: Some((mins, f16(block, 82))),
        d: f16(block, 80),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::q2_k(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
