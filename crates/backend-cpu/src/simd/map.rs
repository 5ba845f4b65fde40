#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Loops that treat each element by itself.

use minfer_graph::Activation;

use super::dispatch;
use super::lanes::{LANES, Lanes, padded};
use super::math::{gelu, silu, soft_cap};

/// Makes the body of a loop from what it does to one vector: of `y` alone, or of `y` and `x` of the
/// same length. The last elements take part in a vector filled up with zeros.
///
/// A macro, since a closure of some length is not inlined, and then is not compiled for the
/// instruction set.
macro_rules! bodies {
    ($($name:ident($y:ident $(, $x:ident)?; $($arg:ident: $ty:ty),*) = $vector:expr;)*) => {$(
        #[inline(always)]
        fn $name<L: Lanes>(y: &mut [f32], $($x: &[f32],)? $($arg: $ty),*) {
            $(assert_eq!(y.len(), $x.len(), "rows of one length");)?
            let (whole, rest) = y.as_chunks_mut::<LANES>();
            for i in 0..whole.len() {
                let $y = L::load(&whole[i]);
                $(let $x = L::load(&$x.as_chunks::<LANES>().0[i]);)?
                $vector.store(&mut whole[i]);
            }
            if !rest.is_empty() {
                let mut last = padded(rest, 0.0);
                let $y = L::load(&last);
                $(let $x = L::load(&padded($x.as_chunks::<LANES>().1, 0.0));)?
                $vector.store(&mut last);
                rest.copy_from_slice(&last[..rest.len()]);
            }
        }
    )*};
}

bodies! {
    add_body(y, x;) = y.add(x);
    mul_body(y, x;) = y.mul(x);
    scale_body(y; factor: f32) = L::splat(factor).mul(y);
    axpy_body(y, x; a: f32) = L::splat(a).fma(x, y);
    blend_body(y, x; a: f32, b: f32) = y.fma(L::splat(a), x.mul(L::splat(b)));
    silu_body(y;) = silu(y);
    gelu_body(y;) = gelu(y);
    soft_cap_body(y; cap: f32) = soft_cap(y, cap);
    silu_glu_body(y, x;) = silu(y).mul(x);
    gelu_glu_body(y, x;) = gelu(y).mul(x);
    soft_cap_glu_body(y, x; cap: f32) = soft_cap(y, cap).mul(x);
}

#[inline(always)]
fn unary_body<L: Lanes>(y: &mut [f32], function: Activation) {
    match function {
        Activation::Silu => silu_body::<L>(y),
        Activation::Gelu => gelu_body::<L>(y),
        Activation::SoftCap(cap) => soft_cap_body::<L>(y, cap),
    }
}

#[inline(always)]
fn glu_body<L: Lanes>(y: &mut [f32], up: &[f32], function: Activation) {
    match function {
        Activation::Silu => silu_glu_body::<L>(y, up),
        Activation::Gelu => gelu_glu_body::<L>(y, up),
        Activation::SoftCap(cap) => soft_cap_glu_body::<L>(y, up, cap),
    }
}

dispatch! {
    /// `y = y + x`.
    fn add(y: &mut [f32], x: &[f32]) = add_body;
    /// `y = y · x`.
    fn mul(y: &mut [f32], x: &[f32]) = mul_body;
    /// `y = factor · y`.
    fn scale(y: &mut [f32], factor: f32) = scale_body;
    /// `y = fma(a, x, y)`.
    fn axpy(y: &mut [f32], x: &[f32], a: f32) = axpy_body;
    /// `y = fma(y, a, x · b)`.
    fn blend(y: &mut [f32], x: &[f32], a: f32, b: f32) = blend_body;
    /// `y = function(y)`.
    fn unary(y: &mut [f32], function: Activation) = unary_body;
    /// `y = function(y) · up`.
    fn glu(y: &mut [f32], up: &[f32], function: Activation) = glu_body;
}
