#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Float dot products: 16 virtual lanes, then the tree.

use super::dispatch;
use super::lanes::{LANES, Lanes};

/// Virtual lanes.
const WIDTH: usize = 2 * LANES;

/// The terms of all virtual lanes, once.
pub(super) type Chunk = [[f32; LANES]; 2];

/// Whole chunks, and the terms that are left.
#[inline(always)]
pub(super) fn chunks(x: &[f32]) -> (&[Chunk], &[f32]) {
    let (chunks, _) = x.as_chunks::<LANES>().0.as_chunks::<2>();
    (chunks, &x[chunks.len() * WIDTH..])
}

/// What is left as a chunk, with zeros beyond the end: `fma(0, 0, lane)` leaves a lane as it is.
#[inline(always)]
fn tail(rest: &[f32]) -> Chunk {
    let mut last = [[0.0; LANES]; 2];
    last.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
    last
}

#[inline(always)]
pub(super) fn halves<L: Lanes>(chunk: &Chunk) -> [L; 2] {
    [L::load(&chunk[0]), L::load(&chunk[1])]
}

/// `N` dot products with one vector, each with its own 16 lanes.
#[inline(always)]
pub(super) fn dots<L: Lanes, const N: usize>(rows: [&[f32]; N], x: &[f32]) -> [f32; N] {
    let (xs, x_rest) = chunks(x);
    // Loops, not closures over arrays: with lengths in plain sight the inner loop checks none.
    let (mut whole, mut rest): ([&[Chunk]; N], [&[f32]; N]) = ([&[]; N], [&[]; N]);
    for n in 0..N {
        assert_eq!(rows[n].len(), x.len(), "rows of one length");
        let (row, end) = chunks(rows[n]);
        (whole[n], rest[n]) = (&row[..xs.len()], end);
    }
    let mut lanes = [[L::splat(0.0); 2]; N];
    for i in 0..xs.len() {
        let [low, high] = halves::<L>(&xs[i]);
        for n in 0..N {
            let [row_low, row_high] = halves::<L>(&whole[n][i]);
            lanes[n][0] = row_low.fma(low, lanes[n][0]);
            lanes[n][1] = row_high.fma(high, lanes[n][1]);
        }
    }
    if !x_rest.is_empty() {
        let [low, high] = halves::<L>(&tail(x_rest));
        for n in 0..N {
            let [row_low, row_high] = halves::<L>(&tail(rest[n]));
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
