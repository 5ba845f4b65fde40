//! Reading and writing the fields of a block by their byte offset. Offsets are constants of the
//! formats, never data.

use crate::float::f16_to_f32;

/// The `N` bytes at `at`.
#[inline(always)]
pub(crate) fn bytes<const N: usize>(block: &[u8], at: usize) -> &[u8; N] {
    block[at..].first_chunk().expect("fields lie inside their block")
}

/// The `N` bytes at `at`, to be written.
#[inline(always)]
pub(crate) fn bytes_mut<const N: usize>(block: &mut [u8], at: usize) -> &mut [u8; N] {
    block[at..].first_chunk_mut().expect("fields lie inside their block")
}

/// The little-endian `f16` at `at`.
#[inline(always)]
pub(crate) fn f16(block: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes(*bytes(block, at)))
}

/// Writes `value` rounded to `f16` at `at` and returns what a reader will see.
#[inline(always)]
pub(crate) fn put_f16(block: &mut [u8], at: usize, value: f32) -> f32 {
    let rounded = half::f16::from_f32(value);
    *bytes_mut(block, at) = rounded.to_le_bytes();
    f16_to_f32(rounded.to_bits())
}
