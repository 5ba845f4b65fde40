//! `tq1_0` against q8_k rows: `w = t − 1` of digits in base 3, five to a byte; super-blocks of 256
//! in 54 bytes.

use super::rows::{Q8KRow, SuperBlock, f16, one_by_one};
use super::tile::Q8KTile;
use crate::simd::{Rows, Simd, Sums, integer};

/// Digit `place` of a byte: a fraction in base 3.
fn digit(byte: u8, place: usize) -> u8 {
    let rest = byte.wrapping_mul([1, 3, 9, 27, 81][place]);
    ((u16::from(rest) * 3) >> 8) as u8
}

/// The numbers of a super-block.
fn read(block: &[u8; 54]) -> SuperBlock {
    let value = |v: usize| match v {
        0..160 => digit(block[v % 32], v / 32),
        160..240 => digit(block[32 + v % 16], (v - 160) / 16),
        _ => digit(block[48 + v % 4], (v - 240) / 4),
    };
    SuperBlock {
        values: std::array::from_fn(|v| value(v) as i8 - 1),
        scales: [1; 16],
        mins: None,
        d: f16(block, 52),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8KRow<'_>) -> f32 {
    x.chain(row, read)
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(simd: Simd, rows: &Rows<'_>, xs: &Q8KTile<'_>, acc: &mut [Sums]) {
    if !integer::tq1_0(simd, rows, xs, acc) {
        one_by_one(rows, xs.rows, acc, dot);
    }
}
