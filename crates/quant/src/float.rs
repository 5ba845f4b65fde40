//! 16-bit floats: bits to `f32` without branches, so that decode loops vectorise.

/// Largest finite `f16`; block formats refuse to encode magnitudes beyond it.
pub(crate) const F16_MAX: f32 = 65504.0;

/// The `f32` of IEEE binary16 bits. Exact for every finite input; NaN stays NaN.
///
/// The 15 magnitude bits move into an `f32`'s place and the exponent grows by 127 - 15 = 112.
/// Infinity and NaN (magnitude >= 0x7c00) need the exponent filled up. A subnormal number
/// (magnitude < 0x400) is m * 2^-24: with the exponent one larger still, the bits read
/// 2^-14 + m * 2^-24, and subtracting 2^-14 is exact.
#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    const SUBNORMAL_BIAS: f32 = f32::from_bits((127 - 14) << 23);
    let magnitude = u32::from(bits & 0x7fff);
    let sign = u32::from(bits & 0x8000) << 16;
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    let normal = (magnitude << 13) + (112 << 23);
    let subnormal = f32::from_bits(normal + (1 << 23)) - SUBNORMAL_BIAS;
    let value = if magnitude < 0x400 { subnormal.to_bits() } else { normal | special };
    f32::from_bits(value | sign)
}

/// `1 / scale`, or 0 where the scale is 0: what has no scale encodes as zeros.
#[inline(always)]
pub(crate) fn inverse(scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { 1.0 / scale }
}

/// The level nearest to `x` (ties to even) between the whole numbers `low` and `high`, both below
/// 2^22 in magnitude; `low` where `x` is NaN.
///
/// `round_ties_even` is a library call on the oldest x86-64. At 1.5 * 2^23 neighbouring `f32` are 1
/// apart, so adding that number rounds as wanted, and does so in vectors everywhere.
#[inline(always)]
pub(crate) fn nearest(x: f32, low: f32, high: f32) -> f32 {
    const SHIFT: f32 = 1.5 * (1 << 23) as f32;
    (x.max(low).min(high) + SHIFT) - SHIFT
}

#[cfg(test)]
mod tests;
