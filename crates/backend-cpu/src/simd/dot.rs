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

/// Bytes of a q8_0 block: an f16 scale and 32 values.
const Q8_0: usize = 34;

/// Two virtual lane halves of a block's next 16 values, decoded: `q · d` is exact in f32.
#[inline(always)]
fn q8_0_halves<L: Lanes>(values: &[i8; WIDTH], scale: L) -> [L; 2] {
    let (parts, _) = values.as_chunks::<LANES>();
    [L::load_i8(&parts[0]).mul(scale), L::load_i8(&parts[1]).mul(scale)]
}

#[inline(always)]
fn dot4_q8_0_body<L: Lanes>(rows: [&[u8]; 4], x: &[f32]) -> [f32; 4] {
    let (xs, rest) = x.as_chunks::<32>();
    assert!(rest.is_empty(), "rows of whole blocks");
    let blocks: [&[[u8; Q8_0]]; 4] = rows.map(|row| {
        assert_eq!(row.len(), xs.len() * Q8_0, "rows of one length");
        &row.as_chunks::<Q8_0>().0[..xs.len()]
    });
    let mut lanes = [[L::splat(0.0); 2]; 4];
    for (i, x) in xs.iter().enumerate() {
        let (x, _) = x.as_chunks::<WIDTH>();
        let x = [halves::<L>(&x[0]), halves::<L>(&x[1])];
        // The next four rows, a block's share at a time: short rows side by side are too many
        // streams for the processor to foresee.
        let ahead = blocks[0].as_ptr().cast::<u8>().wrapping_add((xs.len() + i) * 4 * Q8_0);
        for line in (0..4 * Q8_0).step_by(64) {
            L::prefetch(ahead.wrapping_add(line));
        }
        let mut scales = [0; LANES];
        for n in 0..4 {
            scales[n] = u16::from_le_bytes([blocks[n][i][0], blocks[n][i][1]]);
        }
        let scales = L::load_f16(&scales).array();
        for n in 0..4 {
            let scale = L::splat(scales[n]);
            let (values, _) = bytemuck::cast_slice::<u8, i8>(&blocks[n][i][2..]).as_chunks();
            for half in 0..2 {
                let [low, high] = q8_0_halves(&values[half], scale);
                lanes[n][0] = low.fma(x[half][0], lanes[n][0]);
                lanes[n][1] = high.fma(x[half][1], lanes[n][1]);
            }
        }
    }
    std::array::from_fn(|n| L::tree(lanes[n][0], lanes[n][1]))
}

dispatch! {
    /// The float dot products of four q8_0 rows with `x`: decoded, then as [`dot4`].
    fn dot4_q8_0(rows: [&[u8]; 4], x: &[f32]) -> [f32; 4] = dot4_q8_0_body;
    /// The float dot products of four rows with `x`.
    fn dot4(rows: [&[f32]; 4], x: &[f32]) -> [f32; 4] = dot4_body;
}
