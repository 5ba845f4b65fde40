//! Weight rows side by side: dword lane r of a vector holds four neighbouring values ("a quad") of
//! row r.
//!
//! So a quad of activations, broadcast, meets all rows at once, a sum needs no shuffle across
//! lanes, and the outputs end up in one vector, each as its own chain. Measured against eight lane
//! chains per output, this halves the instructions of a matrix-vector product, and in a tile of
//! tokens the interleaving is paid once.
//!
//! Everything that knows a format is written once over [`Quads`]; an instruction set gives the
//! vector.

use super::integer::{ROWS, RUN};
use crate::kernels::quant::TOKENS;

/// An array by index. A closure given to `std::array::from_fn` would not be inlined: that function
/// is not compiled for the instruction set.
macro_rules! array {
    ([$start:expr; $n:expr], $i:ident => $value:expr) => {{
        let mut array = [$start; $n];
        for $i in 0..$n {
            array[$i] = $value;
        }
        array
    }};
}
pub(super) use array;

/// A group of 32 values of the rows.
pub(super) type Group<V> = [V; 8];

/// Bit i of four in byte i, for the low and the high half of a byte.
pub(super) const NIBBLE_BITS: [i32; 2] = [0x0804_0201, 0x8040_2010_u32.cast_signed()];

/// What products need to know of a format's weights.
pub(super) trait Weights {
    /// Quads of unsigned weights whose products may be added in 16 bits.
    const CHAIN: usize;
    /// Weights are signed bytes.
    const SIGNED: bool = false;
    /// What is taken from unsigned weights.
    const OFFSET: i16 = 0;
    /// A minimum is added to each weight.
    const MINIMA: bool = false;
    /// Super-blocks: one sub-scale for 32 values, not for 16.
    const WIDE: bool = false;
}

/// Which values of a group.
#[derive(Clone, Copy)]
pub(super) enum Values {
    All,
    /// Values 0…15.
    First,
    /// Values 16…31.
    Second,
}

/// A vector of `R` dwords, one a row.
pub(super) trait Quads<const R: usize>: Copy {
    /// f32 of the same rows.
    type Floats: Copy;

    /// What makes the sums of [`TOKENS`] tokens at once, for as long as it lives.
    type Tiles;

    /// What [`Quads::dots`] adds to signed weights, which products of bytes may want unsigned:
    /// `sum = Σ (w + BIAS) · x`.
    const BIAS: i16;

    fn splat(x: i32) -> Self;
    fn lanes(numbers: &[i32; R]) -> Self;
    /// Vector q holds bytes 4q…4q+3 of row r in lane r.
    fn interleave(rows: &[[u8; 16]; R]) -> [Self; 4];
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    /// Byte by byte.
    fn sub_bytes(self, other: Self) -> Self;
    /// The low 32 bits of the product.
    fn mul(self, other: Self) -> Self;
    fn shl(self, bits: u32) -> Self;
    /// Fills up with zeros.
    fn shr(self, bits: u32) -> Self;
    /// Sets bit 4 of byte i of each lane where `top` has bit `4 · quad + i`.
    fn fifth_bits(self, top: Self, quad: usize) -> Self;
    /// Each byte through a table of 16; bytes are below 16.
    fn look_up(self, table: &[i8; 16]) -> Self;

    /// Signed bytes as [`Quads::dot`] takes them.
    fn signed(self) -> Self;
    /// `sums[t] += Σ w · x` over a group and each token's 32 bytes, read as quads. Weights are
    /// unsigned bytes, or what [`Quads::signed`] made.
    fn dots<F: Weights, const T: usize>(w: &Group<Self>, x: &[[i32; 8]; T], sums: &mut [Self; T]);
    /// A number of 16 bits in each lane as [`Quads::scaled_dots`] takes it.
    fn scale(self) -> Self;
    /// `sums[t] += Σ scale · w · x`: `scales` of values 0…15 and of 16…31.
    fn scaled_dots<F: Weights, const T: usize>(
        w: &Group<Self>,
        x: &[[i32; 8]; T],
        scales: &[Self; 2],
        sums: &mut [Self; T],
    );
    /// `self + low · x_low + high · x_high`, of pairs of 16 bits.
    fn add_pairs(self, pairs: Self, x: i32) -> Self;

    /// Nothing where the instruction set makes one token's sums at a time.
    fn tiles() -> Option<Self::Tiles>;
    /// `sums[t] = Σ w · x` of the values of a group, signed bytes, and token t's bytes.
    fn tile_dots(
        tiles: &Self::Tiles,
        w: &Group<Self>,
        values: Values,
        x: &[[i32; 8]; TOKENS],
        sums: &mut [Self; TOKENS],
    );

    /// No rows' outputs yet.
    fn zeros() -> Self::Floats;
    fn floats(from: &[f32; R]) -> Self::Floats;
    fn store(floats: Self::Floats, to: &mut [f32; R]);
    /// The f16 in the low half of each lane, widened.
    fn low_f16(self) -> Self::Floats;
    /// `fma(self, d · scale, chain)`.
    fn link(self, d: Self::Floats, scale: f32, chain: Self::Floats) -> Self::Floats;
    /// `fma(self, −(m · scale), chain)`.
    fn unlink(self, m: Self::Floats, scale: f32, chain: Self::Floats) -> Self::Floats;
}

/// Words of four bytes at `at` of the rows' blocks, `at + 16` at most the block's end.
#[inline(always)]
pub(super) fn words<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
) -> [V; 4] {
    V::interleave(&array!([[0; 16]; R], r => field(blocks[r], at)))
}

/// The word at `at` of the rows' blocks.
#[inline(always)]
pub(super) fn word<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
) -> V {
    V::lanes(&array!([0; R], r => i32::from_le_bytes(field(blocks[r], at))))
}

/// The half word at `at` of the rows' blocks.
#[inline(always)]
pub(super) fn half_word<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
) -> V {
    V::lanes(&array!([0; R], r => i32::from(u16::from_le_bytes(field(blocks[r], at)))))
}

/// The `N` bytes at `at`.
#[inline(always)]
pub(super) fn field<const BYTES: usize, const N: usize>(block: &[u8; BYTES], at: usize) -> [u8; N] {
    *block[at..].first_chunk().expect("fields lie inside their block")
}

/// The low halves of bytes.
#[inline(always)]
pub(super) fn low<V: Quads<R>, const R: usize>(bytes: V) -> V {
    bytes.and(V::splat(0x0f0f_0f0f))
}

/// The high halves of bytes.
#[inline(always)]
pub(super) fn high<V: Quads<R>, const R: usize>(bytes: V) -> V {
    low(bytes.shr(4))
}

/// Values of 4 bits from 16 bytes: 0…15 in the low halves, 16…31 in the high ones.
#[inline(always)]
pub(super) fn nibbles<V: Quads<R>, const R: usize>(words: [V; 4]) -> Group<V> {
    let [a, b, c, d] = words;
    [low(a), low(b), low(c), low(d), high(a), high(b), high(c), high(d)]
}

/// 32 bytes as they are.
#[inline(always)]
pub(super) fn bytes<V: Quads<R>, const R: usize, const BYTES: usize>(
    blocks: &[&[u8; BYTES]; R],
    at: usize,
) -> Group<V> {
    let [a, b, c, d] = words(blocks, at);
    let [e, f, g, h] = words(blocks, at + 16);
    [a, b, c, d, e, f, g, h]
}

/// Signed bytes as products take them.
#[inline(always)]
pub(super) fn signed<V: Quads<R>, const R: usize>(w: Group<V>) -> Group<V> {
    array!([w[0]; 8], q => w[q].signed())
}

/// Levels of 4 bits through a table of signed ones.
#[inline(always)]
pub(super) fn look_up<V: Quads<R>, const R: usize>(
    table: &[i8; 16],
    indices: Group<V>,
) -> Group<V> {
    array!([indices[0]; 8], q => indices[q].look_up(table).signed())
}

/// What is taken from a format's weights where products of bytes want them unsigned.
#[inline(always)]
pub(super) fn offset<V: Quads<R>, F: Weights, const R: usize>() -> i16 {
    if F::SIGNED { V::BIAS } else { F::OFFSET }
}

/// The signed bytes that a group of unsigned ones stands for.
#[inline(always)]
pub(super) fn without_offset<V: Quads<R>, F: Weights, const R: usize>(w: &mut Group<V>) {
    let offset = V::splat(i32::from(offset::<V, F, R>()).wrapping_mul(0x0101_0101));
    for w in w {
        *w = w.sub_bytes(offset);
    }
}

/// The two numbers of 16 bits `a` and `b` in one lane.
#[inline(always)]
pub(super) fn pair<V: Quads<R>, const R: usize>(a: V, b: V) -> V {
    a.and(V::splat(0xffff)).or(b.shl(16))
}

/// Fetches the next tile's rows ahead of time, a block's share at a time: many short rows read side
/// by side are too many streams for the processor to foresee, and a fetch ahead crosses the borders
/// of pages early.
#[inline(always)]
pub(super) fn prefetch<const R: usize, const BYTES: usize>(rows: &[&[[u8; BYTES]]; R], b: usize) {
    let blocks = rows[0].len();
    let first = array!([rows[0].as_ptr().cast::<u8>(); R], r => rows[r].as_ptr().cast::<u8>());
    // Runs that follow each other leave the next tile's behind the last of them.
    let together = first[RUN] == first[0].wrapping_add(RUN * blocks * BYTES);
    let ahead = if together { ROWS } else { RUN };
    for run in (0..R).step_by(RUN) {
        let next = first[run].wrapping_add((ahead * blocks + RUN * b) * BYTES);
        for line in (0..RUN * BYTES).step_by(64) {
            super::prefetch(next.wrapping_add(line));
        }
    }
}
