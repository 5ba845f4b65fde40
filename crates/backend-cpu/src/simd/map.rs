#![expect(unsafe_code, reason = "enters code compiled for the instruction set that `Simd` proves")]
//! Loops that treat each element by itself.

use minfer_graph::Activation;

use super::dispatch;
use super::lanes::{LANES, Lanes};
use super::math::activation;

/// Runs `f(y, x)` on whole vectors, then on a last one filled up with zeros.
#[inline(always)]
fn zip<L: Lanes>(y: &mut [f32], x: &[f32], f: impl Fn(L, L) -> L) {
    assert_eq!(y.len(), x.len(), "rows of one length");
    let (ys, y_rest) = y.as_chunks_mut::<LANES>();
    let (xs, x_rest) = x.as_chunks::<LANES>();
    for (y, x) in ys.iter_mut().zip(xs) {
        f(L::load(y), L::load(x)).store(y);
    }
    if !y_rest.is_empty() {
        let (mut last, mut other) = ([0.0; LANES], [0.0; LANES]);
        last[..y_rest.len()].copy_from_slice(y_rest);
        other[..x_rest.len()].copy_from_slice(x_rest);
        f(L::load(&last), L::load(&other)).store(&mut last);
        y_rest.copy_from_slice(&last[..y_rest.len()]);
    }
}

/// Runs `f(y)` on whole vectors, then on a last one filled up with zeros.
#[inline(always)]
fn each<L: Lanes>(y: &mut [f32], f: impl Fn(L) -> L) {
    let (ys, rest) = y.as_chunks_mut::<LANES>();
    for y in ys {
        f(L::load(y)).store(y);
    }
    if !rest.is_empty() {
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        f(L::load(&last)).store(&mut last);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[inline(always)]
fn add_body<L: Lanes>(y: &mut [f32], x: &[f32]) {
    zip::<L>(y, x, L::add);
}

#[inline(always)]
fn mul_body<L: Lanes>(y: &mut [f32], x: &[f32]) {
    zip::<L>(y, x, L::mul);
}

#[inline(always)]
fn scale_body<L: Lanes>(y: &mut [f32], factor: f32) {
    each::<L>(y, |y| L::splat(factor).mul(y));
}

#[inline(always)]
fn axpy_body<L: Lanes>(y: &mut [f32], a: f32, x: &[f32]) {
    zip::<L>(y, x, |y, x| L::splat(a).fma(x, y));
}

#[inline(always)]
fn blend_body<L: Lanes>(y: &mut [f32], a: f32, x: &[f32], b: f32) {
    zip::<L>(y, x, |y, x| y.fma(L::splat(a), x.mul(L::splat(b))));
}

#[inline(always)]
fn unary_body<L: Lanes>(y: &mut [f32], function: Activation) {
    each::<L>(y, |y| activation(function, y));
}

#[inline(always)]
fn glu_body<L: Lanes>(y: &mut [f32], up: &[f32], function: Activation) {
    zip::<L>(y, up, |gate, up| activation(function, gate).mul(up));
}

dispatch! {
    /// `y = y + x`.
    fn add(y: &mut [f32], x: &[f32]) = add_body;
    /// `y = y · x`.
    fn mul(y: &mut [f32], x: &[f32]) = mul_body;
    /// `y = factor · y`.
    fn scale(y: &mut [f32], factor: f32) = scale_body;
    /// `y = fma(a, x, y)`.
    fn axpy(y: &mut [f32], a: f32, x: &[f32]) = axpy_body;
    /// `y = fma(y, a, x · b)`.
    fn blend(y: &mut [f32], a: f32, x: &[f32], b: f32) = blend_body;
    /// `y = function(y)`.
    fn unary(y: &mut [f32], function: Activation) = unary_body;
    /// `y = function(y) · up`.
    fn glu(y: &mut [f32], up: &[f32], function: Activation) = glu_body;
}
