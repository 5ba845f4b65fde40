//! `f16`: IEEE binary16, little-endian. A block is one value.

use crate::float::f16_to_f32;

pub(crate) const LEN: usize = 1;
pub(crate) const BYTES: usize = 2;

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    *out = [f16_to_f32(u16::from_le_bytes(*block))];
}

/// Rounds to nearest, ties to even; beyond the range to infinity.
#[inline(always)]
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    *block = half::f16::from_f32(values[0]).to_le_bytes();
}
