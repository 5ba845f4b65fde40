//! `nvfp4` against q8_0 rows: `w = LEVELS[q]`, the doubled values of `mxfp4`, with half the scale
//! of each 16; blocks of 64 in 36 bytes, which two blocks of activations meet.

use super::mxfp4::LEVELS;
use super::rows::{Q8_0Row, one_by_one};
use super::tile::Q8_0Tile;
use crate::simd::{Rows, Simd, Sums};

/// Half of a scale, an unsigned float of 8 bits: its exponent counts from 8 with the half taken, as
/// an f32's from 127; without one its fraction counts 2^-10.
pub(crate) fn half_scale(code: u8) -> f32 {
    match code {
        127 => 0.0,
        0..8 | 128..136 => f32::from(code & 7) / 1024.0,
        _ => f32::from_bits((u32::from(code & 127) << 20) + ((127 - 8) << 23)),
    }
}

/// The dot product in plain code.
pub(crate) fn dot(row: &[u8], x: &Q8_0Row<'_>) -> f32 {
    let mut acc = 0.0_f32;
    for (b, block) in row.as_chunks::<36>().0.iter().enumerate() {
        for g in 0..4 {
            let codes = &block[4 + 8 * g..][..8];
            let q = &x.q[2 * b + g / 2][g % 2 * 16..][..16];
            let product = |i: usize| {
                let level = LEVELS[usize::from(codes[i % 8] >> (i / 8 * 4) & 15)];
                i32::from(level) * i32::from(q[i])
            };
            let sum: i32 = (0..16).map(product).sum();
            acc = (sum as f32).mul_add(half_scale(block[g]) * x.scales[2 * b + g / 2], acc);
        }
    }
    acc
}

/// Rows of a tile; `acc` is zero at first.
pub(crate) fn dots(_simd: Simd, rows: &Rows<'_>, xs: &Q8_0Tile<'_>, acc: &mut [Sums]) {
    one_by_one(rows, xs.rows, acc, dot);
}
