#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Float dot products: 16 virtual lanes, then the tree.
//!
//! Sixteen rows meet several vectors in tiles: the lanes of all pairs of a tile stay in registers,
//! so that each load of a row serves all vectors of the tile, and each load of a vector all its
//! rows. The trees of sixteen pairs are added up together.

use bytemuck::Zeroable as _;

use super::dispatch;
use super::integer::{ROWS, Sums};
use super::lanes::{LANES, Lanes, Tiled, padded};

/// Columns that sixteen rows go through before they go on, if there are several vectors: the parts
/// of a tile's vectors, read again for all of them, stay in the first cache.
const BLOCK: usize = 512;

/// A way in which floats are stored; widening is exact.
pub(super) trait Stored {
    type Float: bytemuck::Pod;
    fn load<L: Lanes>(from: &[Self::Float; LANES]) -> L;
}

/// The ways, as types.
pub(super) struct F32;
pub(super) struct F16;
pub(super) struct BF16;

impl Stored for F32 {
    type Float = f32;

    #[inline(always)]
    fn load<L: Lanes>(from: &[f32; LANES]) -> L {
        L::load(from)
    }
}

impl Stored for F16 {
    type Float = u16;

    #[inline(always)]
    fn load<L: Lanes>(from: &[u16; LANES]) -> L {
        L::load_f16(from)
    }
}

impl Stored for BF16 {
    type Float = u16;

    #[inline(always)]
    fn load<L: Lanes>(from: &[u16; LANES]) -> L {
        L::load_bf16(from)
    }
}

/// The rows of a tile as they are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Floats<'a> {
    F32([&'a [f32]; ROWS]),
    F16([&'a [u16]; ROWS]),
    BF16([&'a [u16]; ROWS]),
}

/// `$call` with `$N` a constant of the value `$count`, from 1 to 6.
macro_rules! counted {
    ($count:expr, $N:ident => $call:expr) => {
        counted!($count, $N => $call, 1 2 3 4 5 6)
    };
    ($count:expr, $N:ident => $call:expr, $($n:literal)*) => {
        match $count {
            $($n => {
                const $N: usize = $n;
                $call
            })*
            count => unreachable!("{count} vectors in a tile"),
        }
    };
}
pub(super) use counted;

/// Adds the products of some columns to the lanes of `R` rows and `T` vectors.
#[inline(always)]
fn tile<L: Lanes, S: Stored, const R: usize, const T: usize>(
    rows: [&[S::Float]; R],
    xs: [&[f32]; T],
    mut sums: [[L; R]; T],
) -> [[L; R]; T] {
    // Loops, not closures over arrays: with lengths in plain sight the inner loop checks none.
    let whole = xs[0].len() / LANES;
    let mut row_chunks: [&[[S::Float; LANES]]; R] = [&[]; R];
    let mut x_chunks: [&[[f32; LANES]]; T] = [&[]; T];
    for r in 0..R {
        row_chunks[r] = &rows[r].as_chunks().0[..whole];
    }
    for t in 0..T {
        x_chunks[t] = &xs[t].as_chunks().0[..whole];
    }
    for i in 0..whole {
        let mut w = [L::splat(0.0); R];
        for r in 0..R {
            w[r] = S::load(&row_chunks[r][i]);
        }
        for t in 0..T {
            let x = L::load(&x_chunks[t][i]);
            for r in 0..R {
                sums[t][r] = w[r].fma(x, sums[t][r]);
            }
        }
    }
    if !xs[0].len().is_multiple_of(LANES) {
        // Beyond the end are zeros: `fma(0, 0, lane)` leaves a lane as it is.
        for r in 0..R {
            let mut last = [S::Float::zeroed(); LANES];
            let rest = &rows[r][whole * LANES..];
            last[..rest.len()].copy_from_slice(rest);
            let w: L = S::load(&last);
            for t in 0..T {
                let x = L::load(&padded(&xs[t][whole * LANES..], 0.0));
                sums[t][r] = w.fma(x, sums[t][r]);
            }
        }
    }
    sums
}

/// The products of sixteen rows with each of `T` vectors, in tiles of `R` rows; `lanes` is room.
#[inline(always)]
pub(super) fn sixteen<L: Lanes, S: Stored, const R: usize, const T: usize>(
    rows: &[&[S::Float]; ROWS],
    xs: [&[f32]; T],
    lanes: &mut [[L; ROWS]],
) -> [L; T] {
    let columns = xs[0].len();
    assert!(rows.iter().all(|row| row.len() == columns), "rows of one length");
    assert!(xs.iter().all(|x| x.len() == columns), "vectors of one length");
    // One vector shares nothing: then rows are read from end to end.
    let block = if T == 1 { columns.max(1) } else { BLOCK };
    for first in (0..columns.max(1)).step_by(block) {
        let range = first..columns.min(first + block);
        for row in (0..ROWS).step_by(R) {
            let mut tile_rows: [&[S::Float]; R] = [&[]; R];
            let mut tile_xs: [&[f32]; T] = [&[]; T];
            let mut sums = [[L::splat(0.0); R]; T];
            for r in 0..R {
                tile_rows[r] = &rows[row + r][range.clone()];
            }
            for t in 0..T {
                tile_xs[t] = &xs[t][range.clone()];
                if first > 0 {
                    sums[t].copy_from_slice(&lanes[t][row..row + R]);
                }
            }
            let sums = tile::<L, S, R, T>(tile_rows, tile_xs, sums);
            for t in 0..T {
                lanes[t][row..row + R].copy_from_slice(&sums[t]);
            }
        }
    }
    let mut sums = [L::splat(0.0); T];
    for t in 0..T {
        sums[t] = L::trees(lanes[t]);
    }
    sums
}

/// A dot product of one row with itself or another.
#[inline(always)]
pub(super) fn dot<L: Lanes>(a: &[f32], b: &[f32]) -> f32 {
    let [[lanes]] = tile::<L, F32, 1, 1>([a], [b], [[L::splat(0.0)]]);
    lanes.tree()
}

/// Sixteen rows that meet `xs`.
struct Products<'a, S: Stored> {
    rows: &'a [&'a [S::Float]; ROWS],
    xs: &'a [&'a [f32]],
    sums: &'a mut [Sums],
}

impl<S: Stored> Tiled for Products<'_, S> {
    #[inline(always)]
    fn run<L: Lanes, const R: usize, const V: usize>(self) {
        let mut lanes = [[L::splat(0.0); ROWS]; V];
        for (xs, sums) in self.xs.chunks(V).zip(self.sums.chunks_mut(V)) {
            counted!(xs.len(), T => {
                let vectors = *xs.first_chunk().expect("so many vectors");
                let products = sixteen::<L, S, R, T>(self.rows, vectors, &mut lanes);
                for t in 0..T {
                    products[t].store(&mut sums[t]);
                }
            });
        }
    }
}

#[inline(always)]
fn products_body<L: Lanes>(rows: &Floats<'_>, xs: &[&[f32]], sums: &mut [Sums]) {
    assert_eq!(xs.len(), sums.len(), "sums for each vector");
    match rows {
        Floats::F32(rows) => L::tiled(Products::<F32> { rows, xs, sums }),
        Floats::F16(rows) => L::tiled(Products::<F16> { rows, xs, sums }),
        Floats::BF16(rows) => L::tiled(Products::<BF16> { rows, xs, sums }),
    }
}

dispatch! {
    /// The dot products of a tile's rows with each of `xs`.
    fn products(rows: &Floats<'_>, xs: &[&[f32]], sums: &mut [Sums]) = products_body;
}
