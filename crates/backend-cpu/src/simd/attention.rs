#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! The inner loops of attention over one tile of 32 positions, for one query row and head.
//!
//! Rows of queries, keys and values come widened to f32 and padded with zeros to a multiple of 16
//! columns.

use std::ops::Range;

use super::dispatch;
use super::lanes::{LANES, Lanes};
use super::math::{exp_lanes, soft_cap};

/// The terms of all lanes, once.
type Chunk = [f32; LANES];

/// Positions of a tile.
pub(crate) const TILE: usize = minfer_graph::PAGE_POSITIONS;

/// Scores, then weights, of a tile.
pub(crate) type Scores = [f32; TILE];

/// The lanes of the products of `q` with four keys from `j` on.
#[inline(always)]
fn four_keys<L: Lanes>(q: &[Chunk], k: &[Chunk], j: usize) -> [L; 4] {
    let n = q.len();
    let keys: [&[Chunk]; 4] = std::array::from_fn(|i| &k[(j + i) * n..][..n]);
    let mut lanes = [L::splat(0.0); 4];
    for (c, q) in q.iter().enumerate() {
        let q = L::load(q);
        for i in 0..4 {
            lanes[i] = q.fma(L::load(&keys[i][c]), lanes[i]);
        }
    }
    lanes
}

#[inline(always)]
fn scores_body<L: Lanes>(
    q: &[f32],
    k: &[f32],
    live: Range<usize>,
    scale: f32,
    cap: Option<f32>,
    out: &mut Scores,
) {
    assert!(q.len().is_multiple_of(LANES) && k.len() == TILE * q.len(), "padded rows");
    assert!(live.end <= TILE, "positions of a tile");
    let (q, k) = (q.as_chunks().0, k.as_chunks().0);
    let out = out.as_chunks_mut::<LANES>().0;
    for block in live.start / LANES..live.end.div_ceil(LANES) {
        let mut lanes = [L::splat(0.0); LANES];
        for (i, four) in lanes.as_chunks_mut().0.iter_mut().enumerate() {
            *four = four_keys::<L>(q, k, block * LANES + 4 * i);
        }
        let mut s = L::trees(lanes).mul(L::splat(scale));
        if let Some(cap) = cap {
            s = soft_cap(s, cap);
        }
        s.store(&mut out[block]);
    }
}

/// Steps 2 and 3 of the rule: `(m', c, Σ p)`, with `scores` replaced by p.
#[inline(always)]
fn tile_weights_body<L: Lanes>(scores: &mut Scores, live: Range<usize>, m: f32) -> (f32, f32, f32) {
    assert!(live.start <= live.end && live.end <= TILE, "positions of a tile");
    scores[..live.start].fill(f32::NEG_INFINITY);
    scores[live.end..].fill(f32::NEG_INFINITY);
    let parts = scores.as_chunks_mut::<LANES>().0;
    let most = L::load(&parts[1]).max(L::load(&parts[0]));
    let maximum = most.array().iter().fold(m, |m, x| m.max(*x));
    let c = exp_lanes(L::splat(m - maximum)).array()[0];
    for part in parts {
        exp_lanes(L::load(part).sub(L::splat(maximum))).store(part);
    }
    scores[..live.start].fill(0.0);
    scores[live.end..].fill(0.0);
    let parts = scores.as_chunks::<LANES>().0;
    (maximum, c, L::load(&parts[0]).add(L::load(&parts[1])).tree())
}

/// `N` vectors of the accumulator.
#[inline(always)]
fn columns<L: Lanes, const N: usize>(
    acc: &mut [f32],
    weights: &[f32],
    v: &[f32],
    stride: usize,
    c: f32,
) {
    let parts = acc.as_chunks_mut::<LANES>().0;
    let mut sums = [L::splat(c); N];
    for i in 0..N {
        sums[i] = L::load(&parts[i]).mul(sums[i]);
    }
    for (j, p) in weights.iter().enumerate() {
        let row = v[j * stride..][..N * LANES].as_chunks::<LANES>().0;
        let p = L::splat(*p);
        for i in 0..N {
            sums[i] = p.fma(L::load(&row[i]), sums[i]);
        }
    }
    for i in 0..N {
        sums[i].store(&mut parts[i]);
    }
}

#[inline(always)]
fn accumulate_body<L: Lanes>(
    acc: &mut [f32],
    weights: &Scores,
    v: &[f32],
    live: Range<usize>,
    c: f32,
) {
    let stride = acc.len();
    assert!(stride.is_multiple_of(LANES) && v.len() == TILE * stride, "padded rows");
    let (weights, v) = (&weights[live.clone()], &v[live.start * stride..]);
    let mut column = 0;
    while column + 4 * LANES <= stride {
        columns::<L, 4>(&mut acc[column..][..4 * LANES], weights, &v[column..], stride, c);
        column += 4 * LANES;
    }
    while column < stride {
        columns::<L, 1>(&mut acc[column..][..LANES], weights, &v[column..], stride, c);
        column += LANES;
    }
}

dispatch! {
    /// Scores of the positions `live` of a tile (others stay or are garbage): `q · k_j · scale`,
    /// capped.
    fn scores(
        q: &[f32],
        k: &[f32],
        live: Range<usize>,
        scale: f32,
        cap: Option<f32>,
        out: &mut Scores,
    ) = scores_body;
    /// From scores to weights: gives the new maximum, the factor on what was summed before, and the
    /// weights' sum. Positions outside `live` get weight 0.
    fn tile_weights(scores: &mut Scores, live: Range<usize>, m: f32) -> (f32, f32, f32)
        = tile_weights_body;
    /// `acc = acc · c + Σ p_j v_j` over `live`, in order.
    fn accumulate(acc: &mut [f32], weights: &Scores, v: &[f32], live: Range<usize>, c: f32)
        = accumulate_body;
}
