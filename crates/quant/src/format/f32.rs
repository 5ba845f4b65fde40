//! `f32`: IEEE binary32, little-endian. A block is one value.

pub(crate) const LEN: usize = 1;
pub(crate) const BYTES: usize = 4;

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    *out = [f32::from_le_bytes(*block)];
}

#[inline(always)]
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    *block = values[0].to_le_bytes();
}
