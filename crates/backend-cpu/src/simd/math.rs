#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! exp, silu, gelu and the soft cap, as docs/numerics.md writes them.

use super::dispatch;
use super::lanes::Lanes;

const LOWEST: f32 = -104.0;
const HIGHEST: f32 = 89.0;
/// ln 2 in two parts: the first has few enough bits that its multiples by small whole numbers are
/// exact.
const LN2_HIGH: f32 = f32::from_bits(0x3f31_7200);
const LN2_LOW: f32 = f32::from_bits(0x35bf_be8e);
/// 1/k! for k from 7 down to 0.
const TERMS: [f32; 8] =
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

/// 2√(2/π), and the same times 0.044715, rounded from f64.
const GELU_LINEAR: f32 = (2.0 * 0.797_884_560_802_865_4_f64) as f32;
const GELU_CUBIC: f32 = (2.0 * 0.797_884_560_802_865_4_f64 * 0.044_715) as f32;

/// e^x in each lane.
#[inline(always)]
pub(super) fn exp_lanes<L: Lanes>(x: L) -> L {
    let x = L::splat(LOWEST).max(x);
    let x = L::splat(HIGHEST).min(x);
    let n = x.mul(L::splat(std::f32::consts::LOG2_E)).round();
    let r = n.fma(L::splat(-LN2_HIGH), x);
    let r = n.fma(L::splat(-LN2_LOW), r);
    let mut p = L::splat(TERMS[0]);
    for term in &TERMS[1..] {
        p = p.fma(r, L::splat(*term));
    }
    p.times_power(n)
}

#[inline(always)]
pub(super) fn silu<L: Lanes>(x: L) -> L {
    let one = L::splat(1.0);
    x.div(one.add(exp_lanes(L::splat(0.0).sub(x))))
}

#[inline(always)]
pub(super) fn gelu<L: Lanes>(x: L) -> L {
    let slope = L::splat(GELU_CUBIC).fma(x.mul(x), L::splat(GELU_LINEAR));
    let t = x.mul(slope);
    x.div(L::splat(1.0).add(exp_lanes(L::splat(0.0).sub(t))))
}

#[inline(always)]
pub(super) fn soft_cap<L: Lanes>(x: L, cap: f32) -> L {
    let (one, two, cap) = (L::splat(1.0), L::splat(2.0), L::splat(cap));
    let e = exp_lanes(two.mul(x.div(cap)));
    cap.mul(one.sub(two.div(e.add(one))))
}

#[inline(always)]
fn exp_body<L: Lanes>(x: f32) -> f32 {
    exp_lanes(L::splat(x)).array()[0]
}

dispatch! {
    /// e^x.
    fn exp(x: f32) -> f32 = exp_body;
}
