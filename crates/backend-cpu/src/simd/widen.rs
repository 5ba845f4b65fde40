#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Conversions between f32 and the stored types of K and V (and of f16 and bf16 weights).

use half::bf16;

use super::dispatch;
use super::lanes::{LANES, Lanes, padded};

#[inline(always)]
fn widen<L: Lanes>(from: &[u16], to: &mut [f32], load: impl Fn(&[u16; LANES]) -> L) {
    assert_eq!(from.len(), to.len(), "rows of one length");
    let (whole, rest) = from.as_chunks::<LANES>();
    let (to_whole, to_rest) = to.as_chunks_mut::<LANES>();
    for (from, to) in whole.iter().zip(to_whole) {
        load(from).store(to);
    }
    let mut last = [0; LANES];
    last[..rest.len()].copy_from_slice(rest);
    to_rest.copy_from_slice(&load(&last).array()[..rest.len()]);
}

#[inline(always)]
fn widen_f16_body<L: Lanes>(from: &[u16], to: &mut [f32]) {
    widen::<L>(from, to, L::load_f16);
}

#[inline(always)]
fn widen_bf16_body<L: Lanes>(from: &[u16], to: &mut [f32]) {
    widen::<L>(from, to, L::load_bf16);
}

#[inline(always)]
fn widen_q8_0_body<L: Lanes>(from: &[i8], scales: &[u16], to: &mut [f32]) {
    assert_eq!((from.len(), scales.len()), (to.len(), to.len() / 32), "planes of a row");
    let (from, _) = from.as_chunks::<32>();
    let (to, _) = to.as_chunks_mut::<32>();
    for ((from, to), scale) in from.iter().zip(to).zip(scales) {
        let scale = L::splat(minfer_quant::f16_to_f32(*scale));
        let to = to.as_chunks_mut::<LANES>().0;
        for (from, to) in from.as_chunks::<LANES>().0.iter().zip(to) {
            L::load_i8(from).mul(scale).store(to);
        }
    }
}

#[inline(always)]
fn narrow_f16_body<L: Lanes>(from: &[f32], to: &mut [u16]) {
    assert_eq!(from.len(), to.len(), "rows of one length");
    let (whole, rest) = from.as_chunks::<LANES>();
    let (to_whole, to_rest) = to.as_chunks_mut::<LANES>();
    for (from, to) in whole.iter().zip(to_whole) {
        L::load(from).store_f16(to);
    }
    let mut narrow = [0; LANES];
    L::load(&padded(rest, 0.0)).store_f16(&mut narrow);
    to_rest.copy_from_slice(&narrow[..rest.len()]);
}

/// Rounds to nearest even.
pub(crate) fn narrow_bf16(from: &[f32], to: &mut [u16]) {
    assert_eq!(from.len(), to.len(), "rows of one length");
    for (from, to) in from.iter().zip(to) {
        *to = bf16::from_f32(*from).to_bits();
    }
}

dispatch! {
    /// f16 to f32.
    fn widen_f16(from: &[u16], to: &mut [f32]) = widen_f16_body;
    /// bf16 to f32.
    fn widen_bf16(from: &[u16], to: &mut [f32]) = widen_bf16_body;
    /// int8 with an f16 scale per 32 to f32, one rounding.
    fn widen_q8_0(from: &[i8], scales: &[u16], to: &mut [f32]) = widen_q8_0_body;
    /// f32 to f16, rounded to nearest even.
    fn narrow_f16(from: &[f32], to: &mut [u16]) = narrow_f16_body;
}
