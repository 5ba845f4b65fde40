#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Loops over one row that need all of it: norms, softmax, quantization, rotation, the largest
//! element.

use minfer_graph::op::rope::Pairs;

use super::dispatch;
use super::dot::dot;
use super::lanes::{LANES, Lanes, padded};
use super::math::exp_lanes;

#[inline(always)]
fn rms_norm_body<L: Lanes>(y: &mut [f32], weight: &[f32], eps: f32) {
    assert_eq!(y.len(), weight.len(), "a weight for each column");
    let mean = dot::<L>(y, y) / y.len() as f32;
    let inverse = 1.0 / (mean + eps).sqrt();
    let (ys, rest) = y.as_chunks_mut::<LANES>();
    let (weights, weight_rest) = weight.as_chunks::<LANES>();
    for (y, weight) in ys.iter_mut().zip(weights) {
        L::load(y).mul(L::splat(inverse)).mul(L::load(weight)).store(y);
    }
    for (y, weight) in rest.iter_mut().zip(weight_rest) {
        *y = (*y * inverse) * weight;
    }
}

#[inline(always)]
fn softmax_body<L: Lanes>(y: &mut [f32]) {
    let (ys, rest) = y.as_chunks::<LANES>();
    let mut most = L::splat(f32::NEG_INFINITY);
    for y in ys {
        most = L::load(y).max(most);
    }
    let maximum = rest.iter().chain(&most.array()).fold(f32::NEG_INFINITY, |m, x| m.max(*x));
    let mut sums = L::splat(0.0);
    let (ys, rest) = y.as_chunks_mut::<LANES>();
    for y in ys {
        let e = exp_lanes(L::load(y).sub(L::splat(maximum)));
        sums = sums.add(e);
        e.store(y);
    }
    let mut last = padded(rest, f32::NEG_INFINITY);
    exp_lanes(L::load(&last).sub(L::splat(maximum))).store(&mut last);
    rest.copy_from_slice(&last[..rest.len()]);
    // Lanes beyond the end add zero.
    let sum = sums.add(L::load(&padded(rest, 0.0))).tree();
    let (ys, rest) = y.as_chunks_mut::<LANES>();
    for y in ys {
        L::load(y).div(L::splat(sum)).store(y);
    }
    for y in rest {
        *y /= sum;
    }
}

/// Levels on either side of zero of int8 rows, and of int16 rows.
const LEVELS_8: f32 = 127.0;
const LEVELS_16: f32 = 32767.0;

/// `scale` and the factor to it from max |x| (as bits); a NaN scale where a value is not finite.
/// The factor is 0 where its formula is not finite.
#[inline(always)]
fn scales(bits: u32, levels: f32) -> (f32, f32) {
    let amax = f32::from_bits(bits);
    if !amax.is_finite() {
        return (f32::NAN, 0.0);
    }
    let inverse = levels / amax;
    (amax / levels, if inverse.is_finite() { inverse } else { 0.0 })
}

#[inline(always)]
fn max_bits<L: Lanes>(x: &[[f32; LANES]]) -> u32 {
    let mut most = L::splat(0.0);
    for x in x {
        most = L::load(x).abs().max_bits(most);
    }
    most.array().iter().fold(0, |most, x| most.max(x.to_bits()))
}

/// The quantized values, as whole numbers.
#[inline(always)]
fn levels<L: Lanes>(x: &[f32; LANES], inverse: f32) -> L {
    L::load(x).mul(L::splat(inverse)).round()
}

#[inline(always)]
fn quantize_q8_0_body<L: Lanes>(x: &[f32], q: &mut [i8], scale: &mut [f32], sums: &mut [i32]) {
    let blocks = x.len() / 32;
    assert_eq!((q.len(), scale.len(), sums.len()), (x.len(), blocks, blocks), "planes of a row");
    let (xs, _) = x.as_chunks::<32>();
    let (qs, _) = q.as_chunks_mut::<32>();
    for (i, (x, q)) in xs.iter().zip(qs).enumerate() {
        let (x, q) = (x.as_chunks::<LANES>().0, q.as_chunks_mut::<LANES>().0);
        let bits = max_bits::<L>(x);
        let inverse;
        (scale[i], inverse) = scales(bits, LEVELS_8);
        if scale[i].is_nan() {
            q.fill([0; LANES]);
            sums[i] = 0;
            continue;
        }
        let (low, high) = (levels::<L>(&x[0], inverse), levels::<L>(&x[1], inverse));
        low.store_i8(&mut q[0]);
        high.store_i8(&mut q[1]);
        // Sums of whole numbers this small are exact.
        sums[i] = low.add(high).tree() as i32;
    }
}

#[inline(always)]
fn quantize_q8_k_body<L: Lanes>(x: &[f32], q: &mut [i8], scale: &mut [f32], sums: &mut [i16]) {
    let planes = (q.len(), scale.len(), sums.len());
    assert_eq!(planes, (x.len(), x.len() / 256, x.len() / 16), "planes of a row");
    let (xs, _) = x.as_chunks::<256>();
    let (qs, _) = q.as_chunks_mut::<256>();
    let (sums, _) = sums.as_chunks_mut::<16>();
    for (i, (x, q)) in xs.iter().zip(qs).enumerate() {
        let (x, q) = (x.as_chunks::<LANES>().0, q.as_chunks_mut::<LANES>().0);
        let bits = max_bits::<L>(x);
        let inverse;
        (scale[i], inverse) = scales(bits, LEVELS_8);
        if scale[i].is_nan() {
            q.fill([0; LANES]);
            sums[i] = [0; 16];
            continue;
        }
        let mut groups = [L::splat(0.0); 16];
        for group in 0..16 {
            groups[group] = levels(&x[group], inverse);
            groups[group].store_i8(&mut q[group]);
        }
        for (to, sum) in sums[i].iter_mut().zip(L::trees(groups).array()) {
            *to = sum as i16;
        }
    }
}

#[inline(always)]
fn quantize_q16_0_body<L: Lanes>(x: &[f32], q: &mut [i16], scale: &mut [f32]) {
    assert_eq!((q.len(), scale.len()), (x.len(), x.len() / 32), "planes of a row");
    let (xs, _) = x.as_chunks::<32>();
    let (qs, _) = q.as_chunks_mut::<32>();
    for (i, (x, q)) in xs.iter().zip(qs).enumerate() {
        let (x, q) = (x.as_chunks::<LANES>().0, q.as_chunks_mut::<LANES>().0);
        let inverse;
        (scale[i], inverse) = scales(max_bits::<L>(x), LEVELS_16);
        if scale[i].is_nan() {
            q.fill([0; LANES]);
            continue;
        }
        for (x, q) in x.iter().zip(q) {
            *q = levels::<L>(x, inverse).array().map(|level| level as i16);
        }
    }
}

#[inline(always)]
fn turn<L: Lanes>(a: L, b: L, cos: L, sin: L) -> (L, L) {
    let zero = L::splat(0.0);
    (a.fma(cos, zero.sub(b.mul(sin))), b.fma(cos, a.mul(sin)))
}

#[inline(always)]
fn rope_body<L: Lanes>(head: &mut [f32], cos: &[f32], sin: &[f32], pairs: Pairs) {
    let n = cos.len();
    assert!(sin.len() == n && head.len() >= 2 * n, "a cosine and a sine for each pair");
    let one = |a: f32, b: f32, i: usize| {
        (a.mul_add(cos[i], -(b * sin[i])), b.mul_add(cos[i], a * sin[i]))
    };
    match pairs {
        Pairs::Interleaved => {
            for (i, pair) in head.as_chunks_mut::<2>().0[..n].iter_mut().enumerate() {
                (pair[0], pair[1]) = one(pair[0], pair[1], i);
            }
        }
        Pairs::HalfSplit => {
            let (first, second) = head[..2 * n].split_at_mut(n);
            let whole = n / LANES;
            for i in 0..whole {
                let a = &mut first.as_chunks_mut::<LANES>().0[i];
                let b = &mut second.as_chunks_mut::<LANES>().0[i];
                let (c, s) = (&cos.as_chunks::<LANES>().0[i], &sin.as_chunks::<LANES>().0[i]);
                let (x, y) = turn(L::load(a), L::load(b), L::load(c), L::load(s));
                x.store(a);
                y.store(b);
            }
            for i in whole * LANES..n {
                (first[i], second[i]) = one(first[i], second[i], i);
            }
        }
    }
}

/// Looks for the maximum in vectors, then for its first place.
#[inline(always)]
fn largest_body<L: Lanes>(x: &[f32]) -> Option<usize> {
    let (xs, rest) = x.as_chunks::<LANES>();
    let (mut most, mut doubt) = (L::splat(f32::NEG_INFINITY), L::splat(0.0));
    for x in xs {
        let x = L::load(x);
        most = x.max(most);
        doubt = x.abs().max_bits(doubt);
    }
    let nan = |x: &f32| x.is_nan();
    if doubt.array().iter().any(nan) || rest.iter().any(nan) {
        return None;
    }
    let maximum = rest.iter().chain(&most.array()).fold(f32::NEG_INFINITY, |m, x| m.max(*x));
    x.iter().position(|x| *x == maximum)
}

dispatch! {
    /// Divides a row by its root mean square and multiplies it by the weight.
    fn rms_norm(y: &mut [f32], weight: &[f32], eps: f32) = rms_norm_body;
    /// Makes a row probabilities.
    fn softmax(y: &mut [f32]) = softmax_body;
    /// Quantizes a row in blocks of 32; sums of each block.
    fn quantize_q8_0(x: &[f32], q: &mut [i8], scale: &mut [f32], sums: &mut [i32])
        = quantize_q8_0_body;
    /// Quantizes a row in blocks of 256; sums of each 16.
    fn quantize_q8_k(x: &[f32], q: &mut [i8], scale: &mut [f32], sums: &mut [i16])
        = quantize_q8_k_body;
    /// Quantizes a row to int16 in blocks of 32.
    fn quantize_q16_0(x: &[f32], q: &mut [i16], scale: &mut [f32]) = quantize_q16_0_body;
    /// Turns the pairs of one head.
    fn rope(head: &mut [f32], cos: &[f32], sin: &[f32], pairs: Pairs) = rope_body;
    /// Index of the first of the largest elements; `None` where one is NaN.
    fn largest(x: &[f32]) -> Option<usize> = largest_body;
}
