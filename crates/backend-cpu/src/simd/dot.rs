#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Float dot products: 16 virtual lanes, then the tree.

use super::dispatch;
use super::lanes::{LANES, Lanes};

/// Virtual lanes.
const WIDTH: usize = 2 * LANES;

/// The 16 terms from `16 · chunks` on, zeros beyond the end: `fma(0, 0, lane)` leaves a lane as it
/// is.
#[inline(always)]
fn tail(x: &[f32], rest: &[f32]) -> [f32; WIDTH] {
    debug_assert!(x.len() % WIDTH == rest.len());
    let mut last = [0.0; WIDTH];
    last[..rest.len()].copy_from_slice(rest);
    last
}

#[inline(always)]
pub(super) fn halves<L: Lanes>(chunk: &[f32; WIDTH]) -> [L; 2] {
    let (parts, _) = chunk.as_chunks::<LANES>();
    [L::load(&parts[0]), L::load(&parts[1])]
}

/// `N` dot products with one vector, each with its own 16 lanes.
#[inline(always)]
pub(super) fn dots<L: Lanes, const N: usize>(rows: [&[f32]; N], x: &[f32]) -> [f32; N] {
    let (xs, x_rest) = x.as_chunks::<WIDTH>();
    let chunks: [&[[f32; WIDTH]]; N] = rows.map(|row| {
        assert_eq!(row.len(), x.len(), "rows of one length");
        &row.as_chunks::<WIDTH>().0[..xs.len()]
    });
    let zero = L::splat(0.0);
    let mut lanes = [[zero; 2]; N];
    for (i, x) in xs.iter().enumerate() {
        let [low, high] = halves::<L>(x);
        for n in 0..N {
            let [row_low, row_high] = halves::<L>(&chunks[n][i]);
            lanes[n][0] = row_low.fma(low, lanes[n][0]);
            lanes[n][1] = row_high.fma(high, lanes[n][1]);
        }
    }
    if !x_rest.is_empty() {
        let [low, high] = halves::<L>(&tail(x, x_rest));
        for n in 0..N {
            let rest = &rows[n][xs.len() * WIDTH..];
            let [row_low, row_high] = halves::<L>(&tail(x, rest));
            lanes[n][0] = row_low.fma(low, lanes[n][0]);
            lanes[n][1] = row_high.fma(high, lanes[n][1]);
        }
    }
    std::array::from_fn(|n| L::tree(lanes[n][0], lanes[n][1]))
}

#[inline(always)]
fn dot4_body<L: Lanes>(rows: [&[f32]; 4], x: &[f32]) -> [f32; 4] {
    dots::<L, 4>(rows, x)
}

dispatch! {
    /// The float dot products of four rows with `x`.
    fn dot4(rows: [&[f32]; 4], x: &[f32]) -> [f32; 4] = dot4_body;
}
