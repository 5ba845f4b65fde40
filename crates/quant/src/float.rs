//! 16-bit floats inside blocks: bits to `f32` without branches, so that decode loops vectorise.

/// Largest finite `f16`; block formats refuse to encode magnitudes beyond it.
pub(crate) const F16_MAX: f32 = 65504.0;

/// The `f32` of IEEE binary16 bits. Exact for every finite input; NaN stays NaN.
///
/// Moving the 15 magnitude bits into an `f32`'s place leaves the exponent short by 127 - 15 = 112,
/// for normal and subnormal numbers alike, so one multiplication by 2^112 puts both right.
/// Infinity and NaN (magnitude >= 0x7c00) then only need the exponent filled up.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = u32::from(bits & 0x7fff);
    let sign = u32::from(bits & 0x8000) << 16;
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    let scaled = f32::from_bits(magnitude << 13) * REBIAS;
    f32::from_bits(scaled.to_bits() | special | sign)
}

/// Reads the little-endian `f16` at `at` of a block.
#[inline(always)]
pub(crate) fn f16_at<const N: usize>(block: &[u8; N], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

/// Writes `value` rounded to `f16` at `at` of a block and returns what a reader will see.
pub(crate) fn put_f16<const N: usize>(block: &mut [u8; N], at: usize, value: f32) -> f32 {
    let bits = half::f16::from_f32(value).to_bits();
    [block[at], block[at + 1]] = bits.to_le_bytes();
    f16_to_f32(bits)
}

/// `1 / scale`, or 0 where the scale is 0: a block of zeros encodes as zeros.
pub(crate) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}
