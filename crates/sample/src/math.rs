//! Exponential, logarithm and sums with the same bits on every platform.
//!
//! The platform's `exp` may differ in the last bit from one C library to the next, and a sampled
//! token can hang on that bit. These functions use additions, multiplications and integer shifts
//! alone, in a fixed order and without fused operations; logarithms and powers come from the
//! `libm` crate, which is written the same way.

/// Added and subtracted again, rounds to the nearest integer (ties to even) and leaves the integer
/// in the low bits of the mantissa: 1.5 * 2^52.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; products of the first with integers below 2^20 are exact.
const LN2_HIGH: f64 = f64::from_bits(0x3FE6_2E42_FEE0_0000);
const LN2_LOW: f64 = f64::from_bits(0x3DEA_39EF_3579_3C76);
/// Below this e^x is taken as zero (it is under 1e-307).
const UNDERFLOW: f64 = -707.0;

/// 1/k! for k = 12 down to 0.
const TAYLOR: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// e^x for x <= 0 (negative infinity included), within 2 units in the last place of f64.
pub(crate) fn exp(x: f64) -> f64 {
    let [result] = exp_each([x]);
    result
}

/// [`exp`] of each value, the same bits as one by one.
///
/// x = k ln 2 + r with |r| <= (ln 2) / 2; e^r is its Taylor sum up to r^12, whose rest is below
/// 2e-16; the result is scaled by 2^k. Branch-free and step by step over all values, so that it
/// compiles to vector instructions.
#[inline]
fn exp_each<const N: usize>(x: [f64; N]) -> [f64; N] {
    let clamped = x.map(|x| if x < UNDERFLOW { UNDERFLOW } else { x });
    let rounded = clamped.map(|x| x * std::f64::consts::LOG2_E + ROUND);
    let rest: [f64; N] = std::array::from_fn(|i| {
        let k = rounded[i] - ROUND;
        (clamped[i] - k * LN2_HIGH) - k * LN2_LOW
    });
    let mut sum = [TAYLOR[0]; N];
    for coefficient in &TAYLOR[1..] {
        for i in 0..N {
            sum[i] = sum[i] * rest[i] + coefficient;
        }
    }
    std::array::from_fn(|i| {
        // The low bits of `rounded` hold k in two's complement; 2^k has the exponent k + 1023.
        let scale = f64::from_bits(rounded[i].to_bits().wrapping_add(1023) << 52);
        if x[i] < UNDERFLOW { 0.0 } else { sum[i] * scale }
    })
}

/// Natural logarithm.
pub(crate) fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// x to the power y.
pub(crate) fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Sum of e^(value - max) over `values`, none of which exceeds `max`, in eight interleaved partial
/// sums (index mod 8) added as a fixed tree: a definition that one thread can vectorize and any
/// platform repeats.
pub(crate) fn sum_exp(values: &[f32], max: f32) -> f64 {
    let max = f64::from(max);
    let mut lanes = [0.0f64; 8];
    let chunks = values.chunks_exact(8);
    for (lane, &value) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += exp(f64::from(value) - max);
    }
    for chunk in chunks {
        let terms: [f64; 8] = std::array::from_fn(|lane| f64::from(chunk[lane]) - max);
        let terms = exp_each(terms);
        for lane in 0..8 {
            lanes[lane] += terms[lane];
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Square root, correctly rounded everywhere by definition of IEEE 754.
pub(crate) fn sqrt(x: f64) -> f64 {
    x.sqrt()
}
