//! Integer dot products of the formats with super-blocks of 256 values, with q8_k activations.
//!
//! Chains of 16-bit sums, for instruction sets that have them: values up to 3 or 7 and groups of 16
//! allow four quads, up to 15 eight, up to 31 four, up to 63 two (63 · 127 · 4 = 32004).

use super::block32::{lanes, lanes_mut};
use super::integer::{ROWS, Rows, Sums};
use super::quads::{self, Group, Quads, Values, Weights, array};
use crate::kernels::quant::{
    Panel256, Q8KRow, Q8KTile, SuperBlock, TOKENS, iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s,
    iq3_xxs, iq4_nl,
};

/// Super-blocks that are unpacked together for many tokens: as many as stay in the first cache.
const PANEL: usize = 2;

/// A super-block of the rows.
#[derive(Clone, Copy)]
pub(super) struct Block<V: Quads<R>, const R: usize> {
    /// Groups of 32 values.
    groups: [Group<V>; 8],
    /// Sub-scales of each 16 values.
    scales: [[V; 2]; 8],
    /// Minima or offsets of 16 values and of the next 16, as a pair of 16 bits.
    mins: [V; 8],
    d: V::Floats,
    /// Factor on the minima; offsets are taken from the integer sum.
    m: V::Floats,
}

impl<V: Quads<R>, const R: usize> Block<V, R> {
    /// Room for one: no values, sub-scales of one, no minima.
    #[inline(always)]
    fn empty() -> Self {
        let (zero, one) = (V::splat(0), V::splat(1).scale());
        Block {
            groups: [[zero; 8]; 8],
            scales: [[one; 2]; 8],
            mins: [zero; 8],
            d: V::zeros(),
            m: V::zeros(),
        }
    }

    /// Sets the sub-scales, and what takes `offset` from every weight.
    #[inline(always)]
    fn scale(&mut self, numbers: &[V; 16], offset: i16) {
        let factor = V::splat(i32::from(offset));
        for g in 0..8 {
            let two = [numbers[2 * g], numbers[2 * g + 1]];
            self.scales[g] = [two[0].scale(), two[1].scale()];
            if offset != 0 {
                self.mins[g] = quads::pair(two[0].mul(factor), two[1].mul(factor));
            }
        }
    }
}

/// A format: what its weights are, and how its blocks are unpacked. Functions of a trait, not
/// closures, which might not be inlined and so not be compiled for the instruction set.
trait Format<V: Quads<R>, const R: usize, const BYTES: usize>: Weights {
    /// Writes what blocks of the format differ in: a super-block is too large to be handed over.
    fn unpack(b: &[&[u8; BYTES]; R], to: &mut Block<V, R>);
}

/// The chains of the rows' outputs for each token.
#[inline(always)]
fn chains<V, F, const R: usize, const T: usize, const BYTES: usize>(
    rows: &Rows<'_>,
    xs: &Q8KTile<'_>,
    acc: &mut [Sums],
) where
    V: Quads<R>,
    F: Format<V, R, BYTES>,
{
    let blocks = rows[0].len() / BYTES;
    let mut panel = [Block::empty(); PANEL];
    let tiles = V::tiles();
    for part in (0..ROWS).step_by(R) {
        let rows = array!([&[][..]; R], r => &rows[part + r].as_chunks::<BYTES>().0[..blocks]);
        for first in (0..blocks).step_by(PANEL) {
            let panel = &mut panel[..PANEL.min(blocks - first)];
            for b in 0..panel.len() {
                quads::prefetch(&rows, first + b);
                let blocks = array!([&rows[0][first + b]; R], r => &rows[r][first + b]);
                F::unpack(&blocks, &mut panel[b]);
            }
            if let ([x], [acc]) = (xs.rows, &mut *acc) {
                one::<V, F, R>(panel, x, first, lanes_mut(acc, part));
                continue;
            }
            if tiles.is_some() {
                for g in 0..8 * panel.len() {
                    quads::without_offset::<V, F, R>(&mut panel[g / 8].groups[g % 8]);
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

/// A panel's blocks for one token.
#[inline(always)]
fn one<V: Quads<R>, F: Weights, const R: usize>(
    panel: &[Block<V, R>],
    x: &Q8KRow<'_>,
    first: usize,
    acc: &mut [f32; R],
) {
    let mut chain = V::floats(acc);
    for (b, block) in panel.iter().enumerate() {
        let b = first + b;
        let mut sums = [V::splat(0)];
        for g in 0..8 {
            let x = std::array::from_ref(&x.quads[b][g]);
            V::scaled_dots::<F, 1>(&block.groups[g], x, &block.scales[g], &mut sums);
        }
        let mut least = V::splat(0);
        for (min, pair) in block.mins.iter().zip(x.sums[b].as_chunks::<2>().0) {
            least = least.add_pairs(*min, bytemuck::must_cast(*pair));
        }
        chain = link::<V, F, R>(block, x.scales[b], sums[0], least, chain);
    }
    V::store(chain, acc);
}

/// A panel's blocks for the `T` tokens from `T · i` on, whose chains stay in registers.
#[inline(always)]
fn few<V: Quads<R>, F: Weights, const R: usize, const T: usize>(
    panel: &[Block<V, R>],
    xs: &[Panel256],
    acc: &mut [Sums; TOKENS],
    part: usize,
    i: usize,
) {
    let acc = &mut acc.as_chunks_mut::<T>().0[i];
    let mut chains = array!([V::zeros(); T], t => V::floats(lanes(&acc[t], part)));
    for (block, x) in panel.iter().zip(xs) {
        let mut sums = [V::splat(0); T];
        for g in 0..8 {
            let x = &x.quads[g].as_chunks::<T>().0[i];
            V::scaled_dots::<F, T>(&block.groups[g], x, &block.scales[g], &mut sums);
        }
        for t in 0..T {
            let least = least::<V, F, R>(block, x, T * i + t);
            chains[t] = link::<V, F, R>(block, x.scales[T * i + t], sums[t], least, chains[t]);
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
    xs: &[Panel256],
    acc: &mut [Sums; TOKENS],
    part: usize,
) {
    let mut products = [V::splat(0); TOKENS];
    for (block, x) in panel.iter().zip(xs) {
        let mut sums = [V::splat(0); TOKENS];
        for g in 0..8 {
            let parts = if F::WIDE { &[Values::All][..] } else { &[Values::First, Values::Second] };
            for (values, scale) in parts.iter().zip(&block.scales[g]) {
                V::tile_dots(tiles, &block.groups[g], *values, &x.quads[g], &mut products);
                for t in 0..TOKENS {
                    sums[t] = products[t].mul(*scale).add(sums[t]);
                }
            }
        }
        for t in 0..TOKENS {
            let mut chain = V::floats(lanes(&acc[t], part));
            chain = sums[t].link(block.d, x.scales[t], chain);
            if F::MINIMA {
                let least = least::<V, F, R>(block, x, t);
                chain = least.unlink(block.m, x.scales[t], chain);
            }
            V::store(chain, lanes_mut(&mut acc[t], part));
        }
    }
}

/// Whether a format takes minima or offsets off its sums.
#[inline(always)]
fn has_least<V: Quads<R>, F: Weights, const R: usize>() -> bool {
    F::MINIMA || quads::offset::<V, F, R>() != 0
}

/// Σ minimum · Σ x of a token.
#[inline(always)]
fn least<V: Quads<R>, F: Weights, const R: usize>(
    block: &Block<V, R>,
    x: &Panel256,
    t: usize,
) -> V {
    let mut least = V::splat(0);
    if has_least::<V, F, R>() {
        for g in 0..8 {
            least = least.add_pairs(block.mins[g], x.sums[g][t]);
        }
    }
    least
}

/// A token's chains, one super-block further.
#[inline(always)]
fn link<V: Quads<R>, F: Weights, const R: usize>(
    block: &Block<V, R>,
    scale: f32,
    sum: V,
    least: V,
    chain: V::Floats,
) -> V::Floats {
    if F::MINIMA {
        return least.unlink(block.m, scale, sum.link(block.d, scale, chain));
    }
    let sum = if has_least::<V, F, R>() { sum.sub(least) } else { sum };
    sum.link(block.d, scale, chain)
}

/// Byte `byte` of each lane.
#[inline(always)]
fn byte<V: Quads<R>, const R: usize>(word: V, byte: usize) -> V {
    word.shr(8 * byte as u32).and(V::splat(0xff))
}

/// 16 signed numbers from bytes that are `bias` too large.
#[inline(always)]
fn numbers<V: Quads<R>, const R: usize>(words: &[V; 4], bias: i32) -> [V; 16] {
    array!([words[0]; 16], g => byte(words[g / 4], g % 4).sub(V::splat(bias)))
}

/// Bits `shift..` of each byte, `mask` being less than a byte.
#[inline(always)]
fn bits<V: Quads<R>, const R: usize>(word: V, shift: usize, mask: i32) -> V {
    word.shr(shift as u32).and(V::splat(mask * 0x0101_0101))
}

/// Groups of 32 from 4 bits a value, 64 values in a run of 32 bytes.
#[inline(always)]
fn four_bits<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
    groups: &mut [Group<V>; 8],
) {
    for h in 0..4 {
        let run: Group<V> = quads::bytes(blocks, at + 32 * h);
        for g in 0..2 {
            for q in 0..8 {
                groups[2 * h + g][q] = bits(run[q], 4 * g, 15);
            }
        }
    }
}

/// Groups of 32 from 2 bits a value, 128 values in a run of 32 bytes.
#[inline(always)]
fn two_bits<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
    groups: &mut [Group<V>; 8],
) {
    for h in 0..2 {
        let run: Group<V> = quads::bytes(blocks, at + 32 * h);
        for g in 0..4 {
            for q in 0..8 {
                groups[4 * h + g][q] = bits(run[q], 2 * g, 3);
            }
        }
    }
}

/// Sets bit `to` of each value from a mask, in which group g has bit g of 32 bytes.
#[inline(always)]
fn top_bits<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
    to: u32,
    groups: &mut [Group<V>; 8],
) {
    let mask: Group<V> = quads::bytes(blocks, at);
    for g in 0..8 {
        for q in 0..8 {
            groups[g][q] = groups[g][q].or(bits(mask[q], g, 1).shl(to));
        }
    }
}

#[inline(always)]
fn unpack_q2_k<V: Quads<R>, const R: usize>(b: &[&[u8; 84]; R], to: &mut Block<V, R>) {
    two_bits(b, 16, &mut to.groups);
    let packed: [V; 4] = quads::words(b, 0);
    let mins = numbers(&array!([packed[0]; 4], i => quads::high(packed[i])), 0);
    to.scale(&numbers(&array!([packed[0]; 4], i => quads::low(packed[i])), 0), 0);
    for g in 0..8 {
        to.mins[g] = quads::pair(mins[2 * g], mins[2 * g + 1]);
    }
    let dm: V = quads::word(b, 80);
    (to.d, to.m) = (dm.low_f16(), dm.shr(16).low_f16());
}

#[inline(always)]
fn unpack_q3_k<V: Quads<R>, const R: usize>(b: &[&[u8; 110]; R], to: &mut Block<V, R>) {
    two_bits(b, 32, &mut to.groups);
    top_bits(b, 0, 2, &mut to.groups);
    // The scales, and d beside them.
    let mut tail = [[0; 16]; R];
    for r in 0..R {
        tail[r][..14].copy_from_slice(&b[r][96..]);
    }
    let [first, second, top, d] = V::interleave(&tail);
    let low = [quads::low(first), quads::low(second), quads::high(first), quads::high(second)];
    let packed = array!([top; 4], i => low[i].or(bits(top, 2 * i, 3).shl(4)));
    to.scale(&numbers(&packed, 32), 4);
    to.d = d.low_f16();
}

/// What q4_k and q5_k share: scales and minima of 6 bits behind d and dmin.
#[inline(always)]
fn six_bit_scales<V: Quads<R>, const R: usize, const BYTES: usize>(
    b: &[&[u8; BYTES]; R],
    to: &mut Block<V, R>,
) {
    let [dm, scales, mins, rest]: [V; 4] = quads::words(b, 0);
    let (six, two) = (V::splat(0x3f3f_3f3f), V::splat(0x3030_3030));
    let scales = [scales.and(six), quads::low(rest).or(scales.shr(2).and(two))];
    let mins = [mins.and(six), quads::high(rest).or(mins.shr(2).and(two))];
    for g in 0..8 {
        to.scales[g] = [byte(scales[g / 4], g % 4).scale(); 2];
        let min = byte(mins[g / 4], g % 4);
        to.mins[g] = quads::pair(min, min);
    }
    (to.d, to.m) = (dm.low_f16(), dm.shr(16).low_f16());
}

#[inline(always)]
fn unpack_q4_k<V: Quads<R>, const R: usize>(b: &[&[u8; 144]; R], to: &mut Block<V, R>) {
    four_bits(b, 16, &mut to.groups);
    six_bit_scales(b, to);
}

#[inline(always)]
fn unpack_q5_k<V: Quads<R>, const R: usize>(b: &[&[u8; 176]; R], to: &mut Block<V, R>) {
    four_bits(b, 48, &mut to.groups);
    top_bits(b, 16, 4, &mut to.groups);
    six_bit_scales(b, to);
}

#[inline(always)]
fn unpack_q6_k<V: Quads<R>, const R: usize>(b: &[&[u8; 210]; R], to: &mut Block<V, R>) {
    two_bits(b, 128, &mut to.groups);
    // 128 values in 64 bytes of low halves, the first 64 in the low nibbles.
    for run in 0..4 {
        let low: Group<V> = quads::bytes(b, 32 * run);
        for half in 0..2 {
            let group = &mut to.groups[run / 2 * 4 + half * 2 + run % 2];
            for q in 0..8 {
                group[q] = group[q].shl(4).or(bits(low[q], 4 * half, 15));
            }
        }
    }
    let signed = V::splat(0x8080_8080_u32.cast_signed());
    let scales: [V; 4] = quads::words(b, 192);
    to.scale(&numbers(&array!([signed; 4], i => scales[i].xor(signed)), 128), 32);
    to.d = quads::half_word::<V, R, 210>(b, 208).low_f16();
}

#[inline(always)]
fn unpack_q8_k<V: Quads<R>, const R: usize>(b: &[&[u8; 292]; R], to: &mut Block<V, R>) {
    for g in 0..8 {
        to.groups[g] = quads::signed(quads::bytes(b, 4 + 32 * g));
    }
    to.scale(&[V::splat(1); 16], V::BIAS);
    to.d = V::floats(&array!([0.0; R], r => f32::from_le_bytes(quads::field(b[r], 0))));
}

#[inline(always)]
fn unpack_iq4_xs<V: Quads<R>, const R: usize>(b: &[&[u8; 136]; R], to: &mut Block<V, R>) {
    // d, two top bits of each scale above it; then their low halves.
    let [top, low, ..]: [V; 4] = quads::words(b, 0);
    let mut scales = [top; 16];
    for g in 0..8 {
        to.groups[g] = quads::look_up(&iq4_nl::LEVELS, quads::nibbles(quads::words(b, 8 + 16 * g)));
        let four = low.shr(4 * g as u32).and(V::splat(15));
        let two = top.shr(16 + 2 * g as u32).and(V::splat(3));
        let scale = four.or(two.shl(4)).sub(V::splat(32));
        (scales[2 * g], scales[2 * g + 1]) = (scale, scale);
    }
    to.scale(&scales, V::BIAS);
    to.d = top.low_f16();
}

/// What `read` makes of each row's block: entries of a code book are looked up one by one anyway.
#[inline(always)]
fn unpack_rows<V: Quads<R>, const R: usize, const BYTES: usize>(
    b: &[&[u8; BYTES]; R],
    to: &mut Block<V, R>,
    read: fn(&[u8; BYTES]) -> SuperBlock,
) {
    let mut values = [[[0; 16]; R]; 16];
    let (mut scales, mut d) = ([[0; R]; 16], [0.0; R]);
    for r in 0..R {
        let block = read(b[r]);
        let parts: [[u8; 16]; 16] = bytemuck::must_cast(block.values);
        for g in 0..16 {
            values[g][r] = parts[g];
            scales[g][r] = i32::from(block.scales[g]);
        }
        d[r] = block.d;
    }
    for g in 0..16 {
        let quads = V::interleave(&values[g]);
        for q in 0..4 {
            to.groups[g / 2][g % 2 * 4 + q] = quads[q].signed();
        }
    }
    to.scale(&array!([V::splat(0); 16], g => V::lanes(&scales[g])), V::BIAS);
    to.d = V::floats(&d);
}

/// Digit `place` of each byte, a fraction in base 3.
#[inline(always)]
fn digits<V: Quads<R>, const R: usize>(bytes: V, place: usize) -> V {
    let (power, three) = (V::splat([1, 3, 9, 27, 81][place]), V::splat(3));
    let (half, two_bits) = (V::splat(0x00ff_00ff), V::splat(0x0003_0003));
    let even = bytes.and(half).mul(power).and(half).mul(three).shr(8).and(two_bits);
    let odd = bytes.shr(8).and(half).mul(power).and(half).mul(three).shr(8).and(two_bits);
    even.or(odd.shl(8))
}

#[inline(always)]
fn unpack_tq1_0<V: Quads<R>, const R: usize>(b: &[&[u8; 54]; R], to: &mut Block<V, R>) {
    // Five digits of 32 bytes, five of 16, four of 4.
    let first: Group<V> = quads::bytes(b, 0);
    let second: [V; 4] = quads::words(b, 32);
    let last: V = quads::word(b, 48);
    for place in 0..5 {
        for q in 0..8 {
            to.groups[place][q] = digits(first[q], place);
        }
        for q in 0..4 {
            to.groups[5 + place / 2][place % 2 * 4 + q] = digits(second[q], place);
        }
    }
    for place in 0..4 {
        to.groups[7][4 + place] = digits(last, place);
    }
    to.scale(&[V::splat(1); 16], 1);
    to.d = quads::half_word::<V, R, 54>(b, 52).low_f16();
}

#[inline(always)]
fn unpack_tq2_0<V: Quads<R>, const R: usize>(b: &[&[u8; 66]; R], to: &mut Block<V, R>) {
    two_bits(b, 0, &mut to.groups);
    to.scale(&[V::splat(1); 16], 1);
    to.d = quads::half_word::<V, R, 66>(b, 64).low_f16();
}

/// Names a format's weights and writes its entry, as in `block32`.
macro_rules! formats {
    ($(
        $name:ident $weights:ident: $bytes:literal, { $($const:tt)* },
        $unpack:ident $(($read:path))?;
    )*) => {$(
        pub(super) struct $weights;

        impl Weights for $weights {
            $($const)*
        }

        impl<V: Quads<R>, const R: usize> Format<V, R, $bytes> for $weights {
            #[inline(always)]
            fn unpack(b: &[&[u8; $bytes]; R], to: &mut Block<V, R>) {
                $unpack(b, to $(, $read)?);
            }
        }

        #[inline(always)]
        pub(super) fn $name<V: Quads<R>, const R: usize, const T: usize>(
            rows: &Rows<'_>,
            xs: &Q8KTile<'_>,
            acc: &mut [Sums],
        ) {
            chains::<V, $weights, R, T, $bytes>(rows, xs, acc);
        }
    )*};
}

formats! {
    q2_k Q2K: 84, { const CHAIN: usize = 4; const MINIMA: bool = true; }, unpack_q2_k;
    q3_k Q3K: 110, { const CHAIN: usize = 4; const OFFSET: i16 = 4; }, unpack_q3_k;
    q4_k Q4K: 144, {
        const CHAIN: usize = 8;
        const MINIMA: bool = true;
        const WIDE: bool = true;
    }, unpack_q4_k;
    q5_k Q5K: 176, {
        const CHAIN: usize = 4;
        const MINIMA: bool = true;
        const WIDE: bool = true;
    }, unpack_q5_k;
    q6_k Q6K: 210, { const CHAIN: usize = 2; const OFFSET: i16 = 32; }, unpack_q6_k;
    q8_k Q8K: 292, {
        const CHAIN: usize = 1;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_q8_k;
    iq4_xs Iq4Xs: 136, {
        const CHAIN: usize = 1;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_iq4_xs;
    iq1_s Iq1S: 50, {
        const CHAIN: usize = 8;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_rows(iq1_s::read);
    iq1_m Iq1M: 56, {
        const CHAIN: usize = 4;
        const SIGNED: bool = true;
    }, unpack_rows(iq1_m::read);
    iq2_xxs Iq2Xxs: 66, {
        const CHAIN: usize = 2;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_rows(iq2_xxs::read);
    iq2_xs Iq2Xs: 74, {
        const CHAIN: usize = 2;
        const SIGNED: bool = true;
    }, unpack_rows(iq2_xs::read);
    iq2_s Iq2S: 82, {
        const CHAIN: usize = 2;
        const SIGNED: bool = true;
    }, unpack_rows(iq2_s::read);
    iq3_xxs Iq3Xxs: 98, {
        const CHAIN: usize = 2;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_rows(iq3_xxs::read);
    iq3_s Iq3S: 110, {
        const CHAIN: usize = 8;
        const SIGNED: bool = true;
        const WIDE: bool = true;
    }, unpack_rows(iq3_s::read);
    tq1_0 Tq1_0: 54, {
        const CHAIN: usize = 8;
        const OFFSET: i16 = 1;
        const WIDE: bool = true;
    }, unpack_tq1_0;
    tq2_0 Tq2_0: 66, {
        const CHAIN: usize = 8;
        const OFFSET: i16 = 1;
        const WIDE: bool = true;
    }, unpack_tq2_0;
}
