//! `bf16`: the upper 16 bits of a binary32, little-endian. A block is one value.

pub(crate) const LEN: usize = 1;
pub(crate) const BYTES: usize = 2;

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    *out = [f32::from_bits(u32::from(u16::from_le_bytes(*block)) << 16)];
}

/// Rounds to nearest, ties to even; NaN stays NaN.
#[inline(always)]
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    *block = half::bf16::from_f32(values[0]).to_le_bytes();
}
