//! `f16` weights: float dot products alone; widening is exact.

use crate::simd::{Simd, widen_f16};

/// Widens the values; false where the bytes are not aligned for it.
pub(crate) fn decode(simd: Simd, bytes: &[u8], out: &mut [f32]) -> bool {
    let Ok(bits) = bytemuck::try_cast_slice::<u8, u16>(bytes) else { return false };
    widen_f16(simd, bits, out);
    true
}
