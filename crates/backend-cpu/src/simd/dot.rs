#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Float dot products: 16 virtual lanes, then the tree.

use super::dispatch;
use super::lanes::{LANES, Lanes, padded};

/// `N` dot products with one vector, each with its own 16 lanes.
#[inline(always)]
pub(super) fn dots<L: Lanes, const N: usize>(rows: [&[f32]; N], x: &[f32]) -> [f32; N] {
    let (xs, x_rest) = x.as_chunks::<LANES>();
    // Loops, not closures over arrays: with lengths in plain sight the inner loop checks none.
    let mut whole: [&[[f32; LANES]]; N] = [&[]; N];
    for n in 0..N {
        assert_eq!(rows[n].len(), x.len(), "rows of one length");
        whole[n] = &rows[n].as_chunks().0[..xs.len()];
    }
    let mut lanes = [L::splat(0.0); N];
    for i in 0..xs.len() {
        let x = L::load(&xs[i]);
        for n in 0..N {
            lanes[n] = L::load(&whole[n][i]).fma(x, lanes[n]);
        }
    }
    if !x_rest.is_empty() {
        // Beyond the end are zeros: `fma(0, 0, lane)` leaves a lane as it is.
        let x = L::load(&padded(x_rest, 0.0));
        for n in 0..N {
            let row = padded(&rows[n][xs.len() * LANES..], 0.0);
            lanes[n] = L::load(&row).fma(x, lanes[n]);
        }
    }
    let mut sums = [0.0; N];
    for n in 0..N {
        sums[n] = lanes[n].tree();
    }
    sums
}

#[inline(always)]
fn dot4_body<L: Lanes>(rows: [&[f32]; 4], x: &[f32]) -> [f32; 4] {
    dots::<L, 4>(rows, x)
}

dispatch! {
    /// The float dot products of four rows with `x`.
    fn dot4(rows: [&[f32]; 4], x: &[f32]) -> [f32; 4] = dot4_body;
}
