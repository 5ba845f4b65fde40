//! Integer dot products of the formats with blocks of 32 values, with q8_0 activations.
//!
//! Chains of 16-bit sums, for instruction sets that have them: a quad adds two products to a word,
//! so values up to 15 allow eight quads (15 · 127 · 16 = 30480), values up to 31 four
//! (31 · 127 · 8 = 31496).

use super::integer::{ROWS, Rows, Sums};
use super::quads::{self, Group, Quads, Values, Weights, array};
use crate::kernels::quant::{Panel32, Q8_0Row, Q8_0Tile, TOKENS, iq4_nl, mxfp4};

/// Blocks that are unpacked together for many tokens: as many as stay in the first cache.
const PANEL: usize = 16;

/// A block of the rows.
#[derive(Clone, Copy)]
pub(super) struct Block<V: Quads<R>, const R: usize> {
    w: Group<V>,
    d: V::Floats,
    /// Added once per block, times Σ x, where the format has it.
    m: V::Floats,
}

impl<V: Quads<R>, const R: usize> Block<V, R> {
    /// With the f16 in the low halves of `d`.
    #[inline(always)]
    fn new(w: Group<V>, d: V) -> Self {
        Block { w, d: d.low_f16(), m: V::zeros() }
    }

    /// With the minima in the high halves, too.
    #[inline(always)]
    fn with_minima(w: Group<V>, dm: V) -> Self {
        Block { w, d: dm.low_f16(), m: dm.shr(16).low_f16() }
    }
}

/// A format: what its weights are, and how its blocks are unpacked. Functions of a trait, not
/// closures, which might not be inlined and so not be compiled for the instruction set.
trait Format<V: Quads<R>, const R: usize, const BYTES: usize>: Weights {
    fn unpack(b: &[&[u8; BYTES]; R]) -> Block<V, R>;
}

/// The chains of the rows' outputs for each token.
#[inline(always)]
fn chains<V, F, const R: usize, const T: usize, const BYTES: usize>(
    rows: &Rows<'_>,
    xs: &Q8_0Tile<'_>,
    acc: &mut [Sums],
) where
    V: Quads<R>,
    F: Format<V, R, BYTES>,
{
    let blocks = rows[0].len() / BYTES;
    for part in (0..ROWS).step_by(R) {
        let rows = array!([&[][..]; R], r => &rows[part + r].as_chunks::<BYTES>().0[..blocks]);
        if let ([x], [acc]) = (xs.rows, &mut *acc) {
            one::<V, F, R, BYTES>(&rows, x, lanes_mut(acc, part));
            continue;
        }
        let mut panel = [Block::new([V::splat(0); 8], V::splat(0)); PANEL];
        let tiles = V::tiles();
        for first in (0..blocks).step_by(PANEL) {
            let panel = &mut panel[..PANEL.min(blocks - first)];
            for b in 0..panel.len() {
                panel[b] = next::<V, F, R, BYTES>(&rows, first + b);
                if tiles.is_some() {
                    quads::without_offset::<V, F, R>(&mut panel[b].w);
                }
            }
            let all = xs.panels.chunks_exact(blocks).zip(acc.as_chunks_mut::<TOKENS>().0);
            for ((xs, acc), rows) in all.zip(xs.rows.chunks(TOKENS)) {
                let xs = &xs[first..][..panel.len()];
                match &tiles {
                    Some(tiles) => many::<V, F, R>(tiles, panel, xs, acc, part),
                    None => {
                        for i in 0..rows.len().div_ceil(T) {
                            few::<V, F, R, T>(panel, xs, acc, part, i);
                        }
                    }
                }
            }
        }
    }
}

/// Block `b` of the rows, unpacked.
#[inline(always)]
fn next<V: Quads<R>, F: Format<V, R, BYTES>, const R: usize, const BYTES: usize>(
    rows: &[&[[u8; BYTES]]; R],
    b: usize,
) -> Block<V, R> {
    quads::prefetch(rows, b);
    F::unpack(&array!([&rows[0][b]; R], r => &rows[r][b]))
}

/// One token's chains. They stay in a register: through memory, each link would wait for a store.
#[inline(always)]
fn one<V: Quads<R>, F: Format<V, R, BYTES>, const R: usize, const BYTES: usize>(
    rows: &[&[[u8; BYTES]]; R],
    x: &Q8_0Row<'_>,
    acc: &mut [f32; R],
) {
    let mut chain = V::floats(acc);
    for b in 0..rows[0].len() {
        let block = next::<V, F, R, BYTES>(rows, b);
        let mut sums = [start::<V, F, R>(x.sums[b])];
        V::dots::<F, 1>(&block.w, std::array::from_ref(&x.quads[b]), &mut sums);
        chain = link::<V, F, R>(&block, x.scales[b], x.sums[b], sums[0], chain);
    }
    V::store(chain, acc);
}

/// A panel's blocks for the `T` tokens from `T · i` on, whose chains stay in registers.
#[inline(always)]
fn few<V: Quads<R>, F: Weights, const R: usize, const T: usize>(
    panel: &[Block<V, R>],
    xs: &[Panel32],
    acc: &mut [Sums; TOKENS],
    part: usize,
    i: usize,
) {
    let acc = &mut acc.as_chunks_mut::<T>().0[i];
    let mut chains = array!([V::zeros(); T], t => V::floats(lanes(&acc[t], part)));
    for (block, x) in panel.iter().zip(xs) {
        let (scales, x_sums) = (&x.scales.as_chunks::<T>().0[i], &x.sums.as_chunks::<T>().0[i]);
        let mut sums = array!([V::splat(0); T], t => start::<V, F, R>(x_sums[t]));
        V::dots::<F, T>(&block.w, &x.quads.as_chunks::<T>().0[i], &mut sums);
        for t in 0..T {
            chains[t] = link::<V, F, R>(block, scales[t], x_sums[t], sums[t], chains[t]);
        }
    }
    for t in 0..T {
        V::store(chains[t], lanes_mut(&mut acc[t], part));
    }
}

/// A panel's blocks for all tokens of a tile at once.
#[inline(always)]
fn many<V: Quads<R>, F: Weights, const R: usize>(
    tiles: &V::Tiles,
    panel: &[Block<V, R>],
    xs: &[Panel32],
    acc: &mut [Sums; TOKENS],
    part: usize,
) {
    let mut chains = array!([V::zeros(); TOKENS], t => V::floats(lanes(&acc[t], part)));
    let mut sums = [V::splat(0); TOKENS];
    for (block, x) in panel.iter().zip(xs) {
        V::tile_dots(tiles, &block.w, Values::All, &x.quads, &mut sums);
        for t in 0..TOKENS {
            chains[t] = link::<V, F, R>(block, x.scales[t], x.sums[t], sums[t], chains[t]);
        }
    }
    for t in 0..TOKENS {
        V::store(chains[t], lanes_mut(&mut acc[t], part));
    }
}

/// The sums of `R` rows.
#[inline(always)]
pub(super) fn lanes<const R: usize>(acc: &Sums, part: usize) -> &[f32; R] {
    acc[part..].first_chunk().expect("a part of the rows")
}

#[inline(always)]
pub(super) fn lanes_mut<const R: usize>(acc: &mut Sums, part: usize) -> &mut [f32; R] {
    acc[part..].first_chunk_mut().expect("a part of the rows")
}

/// `−offset · Σ x` of unsigned weights: where a sum begins.
#[inline(always)]
fn start<V: Quads<R>, F: Weights, const R: usize>(x_sum: i32) -> V {
    let offset = quads::offset::<V, F, R>();
    if offset == 0 {
        return V::splat(0);
    }
    // Sums of 32 bytes fit 16 bits; their upper half, the sign, meets a zero.
    V::splat(0).add_pairs(V::splat(i32::from(-offset) & 0xffff), x_sum)
}

/// A token's chains, one block further.
#[inline(always)]
fn link<V: Quads<R>, F: Weights, const R: usize>(
    block: &Block<V, R>,
    scale: f32,
    x_sum: i32,
    sum: V,
    chain: V::Floats,
) -> V::Floats {
    let chain = sum.link(block.d, scale, chain);
    if F::MINIMA {
        return V::splat(x_sum).link(block.m, scale, chain);
    }
    chain
}

/// Names a format's weights and writes its entry: the dot products of `$bytes` a block, which
/// `$unpack` makes a [`Block`].
macro_rules! formats {
    ($(
        $name:ident $weights:ident: $bytes:literal, { $($const:tt)* }, $b:ident => $unpack:expr;
    )*) => {$(
        pub(super) struct $weights;

        impl Weights for $weights {
            $($const)*
        }

        impl<V: Quads<R>, const R: usize> Format<V, R, $bytes> for $weights {
            #[inline(always)]
            fn unpack($b: &[&[u8; $bytes]; R]) -> Block<V, R> {
                $unpack
            }
        }

        #[inline(always)]
        pub(super) fn $name<V: Quads<R>, const R: usize, const T: usize>(
            rows: &Rows<'_>,
            xs: &Q8_0Tile<'_>,
            acc: &mut [Sums],
        ) {
            chains::<V, $weights, R, T, $bytes>(rows, xs, acc);
        }
    )*};
}

formats! {
    q4_0 Q4_0: 18, { const CHAIN: usize = 8; const OFFSET: i16 = 8; }, b => {
        Block::new(quads::nibbles(quads::words(b, 2)), quads::half_word(b, 0))
    };
    q4_1 Q4_1: 20, { const CHAIN: usize = 8; const MINIMA: bool = true; }, b => {
        Block::with_minima(quads::nibbles(quads::words(b, 4)), quads::word(b, 0))
    };
    q5_0 Q5_0: 22, { const CHAIN: usize = 4; const OFFSET: i16 = 16; }, b => {
        Block::new(five_bits(b, 2), quads::half_word(b, 0))
    };
    q5_1 Q5_1: 24, { const CHAIN: usize = 4; const MINIMA: bool = true; }, b => {
        Block::with_minima(five_bits(b, 4), quads::word(b, 0))
    };
    q8_0 Q8_0: 34, { const CHAIN: usize = 1; const SIGNED: bool = true; }, b => {
        Block::new(quads::signed(quads::bytes(b, 2)), quads::half_word(b, 0))
    };
    iq4_nl Iq4Nl: 18, { const CHAIN: usize = 1; const SIGNED: bool = true; }, b => {
        let w = quads::look_up(&iq4_nl::LEVELS, quads::nibbles(quads::words(b, 2)));
        Block::new(w, quads::half_word(b, 0))
    };
    mxfp4 Mxfp4: 17, { const CHAIN: usize = 1; const SIGNED: bool = true; }, b => {
        let w = quads::look_up(&mxfp4::LEVELS, quads::nibbles(quads::words(b, 1)));
        let d = V::floats(&array!([0.0; R], r => mxfp4::half_scale(b[r][0])));
        Block { w, d, m: V::zeros() }
    };
}

/// Levels of five bits: the top bits as a u32 at `at`, then the low halves.
#[inline(always)]
fn five_bits<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
) -> Group<V> {
    let low: Group<V> = quads::nibbles(quads::words(blocks, at + 4));
    let top: V = quads::word(blocks, at);
    array!([low[0]; 8], q => low[q].fifth_bits(top, q))
}
