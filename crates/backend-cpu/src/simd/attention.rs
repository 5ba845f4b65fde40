#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! The inner loops of attention over one tile of 32 positions, for several queries: rows of the
//! step and heads that read the same keys and values.
//!
//! Queries and accumulators are rows of f32, padded with zeros to a multiple of 16 columns; keys
//! and values are rows of as many columns, as they are stored or widened. Several queries share
//! each load of a key or a value, and each widening of it.

use std::ops::Range;

use super::dispatch;
use super::dot::{BF16, F16, F32, Stored, counted, sixteen};
use super::integer::ROWS;
use super::lanes::{LANES, Lanes, Tiled};
use super::math::{exp_lanes, soft_cap};

/// Positions of a tile.
pub(crate) const TILE: usize = minfer_graph::PAGE_POSITIONS;

/// Scores, then weights, of a tile.
pub(crate) type Scores = [f32; TILE];

/// Keys or values of a tile's positions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tile<'a> {
    F32(&'a [f32]),
    F16(&'a [u16]),
    BF16(&'a [u16]),
}

/// What scores are made of beside queries and keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scoring {
    pub(crate) scale: f32,
    pub(crate) cap: Option<f32>,
}

/// Scores of `N` queries for sixteen positions from `first` on.
#[inline(always)]
fn block<L: Lanes, S: Stored, const R: usize, const N: usize>(
    q: [&[f32]; N],
    keys: &[&[S::Float]; ROWS],
    first: usize,
    scoring: Scoring,
    lanes: &mut [[L; ROWS]],
    out: &mut [Scores],
) {
    let products = sixteen::<L, S, R, N>(keys, q, lanes);
    for n in 0..N {
        let mut s = products[n].mul(L::splat(scoring.scale));
        if let Some(cap) = scoring.cap {
            s = soft_cap(s, cap);
        }
        s.store(out[n][first..].first_chunk_mut().expect("positions of a tile"));
    }
}

/// The scores of queries for the positions `seen`.
struct Scored<'a, S: Stored> {
    q: &'a [f32],
    k: &'a [S::Float],
    seen: Range<usize>,
    scoring: Scoring,
    out: &'a mut [Scores],
}

impl<S: Stored> Tiled for Scored<'_, S> {
    #[inline(always)]
    fn run<L: Lanes, const R: usize, const V: usize>(self) {
        let Scored { q, k, seen, scoring, out } = self;
        assert!(!out.is_empty() && q.len().is_multiple_of(LANES * out.len()), "padded queries");
        assert!(k.len() * out.len() == TILE * q.len() && seen.end <= TILE, "keys of a tile");
        let stride = q.len() / out.len();
        let mut lanes = [[L::splat(0.0); ROWS]; V];
        for first in (seen.start / ROWS * ROWS..seen.end).step_by(ROWS) {
            let mut keys: [&[S::Float]; ROWS] = [&[]; ROWS];
            for r in 0..ROWS {
                keys[r] = &k[(first + r) * stride..][..stride];
            }
            for (q, out) in q.chunks(V * stride).zip(out.chunks_mut(V)) {
                counted!(out.len(), N => {
                    let mut queries: [&[f32]; N] = [&[]; N];
                    for n in 0..N {
                        queries[n] = &q[n * stride..][..stride];
                    }
                    block::<L, S, R, N>(queries, &keys, first, scoring, &mut lanes, out);
                });
            }
        }
    }
}

#[inline(always)]
fn scores_body<L: Lanes>(
    q: &[f32],
    k: Tile<'_>,
    seen: Range<usize>,
    scoring: Scoring,
    out: &mut [Scores],
) {
    match k {
        Tile::F32(k) => L::tiled(Scored::<F32> { q, k, seen, scoring, out }),
        Tile::F16(k) => L::tiled(Scored::<F16> { q, k, seen, scoring, out }),
        Tile::BF16(k) => L::tiled(Scored::<BF16> { q, k, seen, scoring, out }),
    }
}

/// Steps 2 and 3 of the rule.
#[inline(always)]
fn weights_body<L: Lanes>(
    scores: &mut [Scores],
    live: Range<usize>,
    running: &mut [[f32; 2]],
    factors: &mut [f32],
) {
    assert!(live.start <= live.end && live.end <= TILE, "positions of a tile");
    for ((scores, running), factor) in scores.iter_mut().zip(running).zip(factors) {
        if live.len() < TILE {
            scores[..live.start].fill(f32::NEG_INFINITY);
            scores[live.end..].fill(f32::NEG_INFINITY);
        }
        let [low, high] = scores.as_chunks_mut::<LANES>().0 else {
            unreachable!("a tile is two vectors")
        };
        let (a, b) = (L::load(low), L::load(high));
        let [before, l] = *running;
        let m = a.max(b).largest().max(before);
        let c = exp_lanes(L::splat(before - m)).array()[0];
        // Exactly 0 of what is masked; where `m` is infinite, all is NaN anyway.
        let (a, b) = (exp_lanes(a.sub(L::splat(m))), exp_lanes(b.sub(L::splat(m))));
        a.store(low);
        b.store(high);
        let sum = a.add(b).tree();
        *running = [m, l.mul_add(c, sum)];
        *factor = c;
    }
}

/// `C` vectors of columns from `column` on, of `N` accumulators.
#[inline(always)]
fn columns<L: Lanes, S: Stored, const C: usize, const N: usize>(
    acc: &mut [f32],
    weights: &[Scores],
    factors: &[f32],
    v: &[S::Float],
    live: Range<usize>,
    column: usize,
) {
    let stride = acc.len() / N;
    let mut sums = [[L::splat(0.0); C]; N];
    for n in 0..N {
        let from = acc[n * stride + column..].as_chunks::<LANES>().0;
        for c in 0..C {
            sums[n][c] = L::load(&from[c]).mul(L::splat(factors[n]));
        }
    }
    for j in live {
        let row = v[j * stride + column..].as_chunks::<LANES>().0;
        let mut values = [L::splat(0.0); C];
        for c in 0..C {
            values[c] = S::load(&row[c]);
        }
        for n in 0..N {
            let p = L::splat(weights[n][j]);
            for c in 0..C {
                sums[n][c] = p.fma(values[c], sums[n][c]);
            }
        }
    }
    for n in 0..N {
        let to = acc[n * stride + column..].as_chunks_mut::<LANES>().0;
        for c in 0..C {
            sums[n][c].store(&mut to[c]);
        }
    }
}

/// Accumulators that take the values of the positions `live`.
struct Accumulated<'a, S: Stored> {
    acc: &'a mut [f32],
    weights: &'a [Scores],
    factors: &'a [f32],
    v: &'a [S::Float],
    live: Range<usize>,
}

impl<S: Stored> Tiled for Accumulated<'_, S> {
    #[inline(always)]
    fn run<L: Lanes, const C: usize, const V: usize>(self) {
        let Accumulated { acc, weights, factors, v, live } = self;
        let count = weights.len();
        assert!(count > 0 && acc.len().is_multiple_of(LANES * count), "padded accumulators");
        assert!(v.len() * count == TILE * acc.len() && live.end <= TILE, "values of a tile");
        assert_eq!(count, factors.len(), "a factor for each accumulator");
        let stride = acc.len() / count;
        let lists = weights.chunks(V).zip(factors.chunks(V));
        for (acc, (weights, factors)) in acc.chunks_mut(V * stride).zip(lists) {
            counted!(weights.len(), N => {
                let mut column = 0;
                while column + C * LANES <= stride {
                    columns::<L, S, C, N>(acc, weights, factors, v, live.clone(), column);
                    column += C * LANES;
                }
                while column < stride {
                    columns::<L, S, 1, N>(acc, weights, factors, v, live.clone(), column);
                    column += LANES;
                }
            });
        }
    }
}

#[inline(always)]
fn accumulate_body<L: Lanes>(
    acc: &mut [f32],
    weights: &[Scores],
    factors: &[f32],
    v: Tile<'_>,
    live: Range<usize>,
) {
    match v {
        Tile::F32(v) => L::tiled(Accumulated::<F32> { acc, weights, factors, v, live }),
        Tile::F16(v) => L::tiled(Accumulated::<F16> { acc, weights, factors, v, live }),
        Tile::BF16(v) => L::tiled(Accumulated::<BF16> { acc, weights, factors, v, live }),
    }
}

dispatch! {
    /// Scores of the positions `seen` of a tile, for each query of `q` (others stay or are
    /// garbage): `q · k_j · scale`, capped.
    fn scores(
        q: &[f32],
        k: Tile<'_>,
        seen: Range<usize>,
        scoring: Scoring,
        out: &mut [Scores],
    ) = scores_body;
    /// From scores to weights: brings maximum and sum of each query up to date, and gives the
    /// factors on what was summed before. Positions outside `live` get weight 0.
    fn weights(
        scores: &mut [Scores],
        live: Range<usize>,
        running: &mut [[f32; 2]],
        factors: &mut [f32],
    ) = weights_body;
    /// `acc = acc · factor + Σ p_j v_j` over `live`, in order, for each accumulator.
    fn accumulate(
        acc: &mut [f32],
        weights: &[Scores],
        factors: &[f32],
        v: Tile<'_>,
        live: Range<usize>,
    ) = accumulate_body;
}
