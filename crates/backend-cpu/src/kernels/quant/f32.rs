//! `f32` weights: float dot products alone; decoding copies.

/// Copies the values; false where the bytes are not aligned for it.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) -> bool {
    let Ok(values) = bytemuck::try_cast_slice::<u8, f32>(bytes) else { return false };
    out.copy_from_slice(values);
    true
}
