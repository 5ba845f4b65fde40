//! Eight weight rows side by side: dword lane r of a vector holds four neighbouring values ("a
//! quad") of row r.
//!
//! So a quad of activations, broadcast, meets eight rows at once, a sum needs no shuffle across
//! lanes, and eight outputs end up in one vector, each as its own chain. Measured against eight
//! lane chains per output, this halves the instructions of a matrix-vector product, and in a tile
//! of tokens the interleaving is paid once.

use std::arch::x86_64::*;

use bytemuck::must_cast;

/// An array by index. A closure given to `std::array::from_fn` would not be inlined: that function
/// is not compiled for these features.
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

/// A group of 32 values of eight rows.
pub(super) type Group = [__m256i; 8];

/// The 16 bytes at `at` of a block.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn load16<const BYTES: usize>(block: &[u8; BYTES], at: usize) -> __m128i {
    must_cast(field::<BYTES, 16>(block, at))
}

/// Bytes `at..at + 16` of eight blocks, interleaved: vector q holds bytes 4q…4q+3 of row r in dword
/// r.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn quads<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> [__m256i; 4] {
    let rows = array!([_mm256_setzero_si256(); 4], r => {
        let low = _mm256_castsi128_si256(load16(blocks[r], at));
        _mm256_inserti128_si256::<1>(low, load16(blocks[r + 4], at))
    });
    let a = _mm256_unpacklo_epi32(rows[0], rows[1]);
    let b = _mm256_unpackhi_epi32(rows[0], rows[1]);
    let c = _mm256_unpacklo_epi32(rows[2], rows[3]);
    let d = _mm256_unpackhi_epi32(rows[2], rows[3]);
    [
        _mm256_unpacklo_epi64(a, c),
        _mm256_unpackhi_epi64(a, c),
        _mm256_unpacklo_epi64(b, d),
        _mm256_unpackhi_epi64(b, d),
    ]
}

/// The low halves of bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn low(bytes: __m256i) -> __m256i {
    _mm256_and_si256(bytes, _mm256_set1_epi8(15))
}

/// The high halves of bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn high(bytes: __m256i) -> __m256i {
    low(_mm256_srli_epi16::<4>(bytes))
}

/// Values of 4 bits from 16 bytes: 0…15 in the low halves, 16…31 in the high ones.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn nibbles<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> Group {
    let [a, b, c, d] = quads(blocks, at);
    [low(a), low(b), low(c), low(d), high(a), high(b), high(c), high(d)]
}

/// 32 bytes as they are.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn bytes<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> Group {
    let [a, b, c, d] = quads(blocks, at);
    let [e, f, g, h] = quads(blocks, at + 16);
    [a, b, c, d, e, f, g, h]
}

/// The f16 at `at` of each block, widened.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn f16s<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> __m256 {
    let bits = array!([0_u16; 8], r => u16::from_le_bytes(field(blocks[r], at)));
    _mm256_cvtph_ps(must_cast(bits))
}

/// Eight i32 as a vector.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn lanes(numbers: &[i32; 8]) -> __m256i {
    must_cast(*numbers)
}

/// The `N` bytes at `at`.
#[inline(always)]
pub(super) fn field<const BYTES: usize, const N: usize>(block: &[u8; BYTES], at: usize) -> [u8; N] {
    *block[at..].first_chunk().expect("fields lie inside their block")
}

/// Each byte through a table of 16.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn look_up(table: &[i8; 16], indices: Group) -> Group {
    let table = _mm256_broadcastsi128_si256(must_cast(*table));
    array!([table; 8], q => _mm256_shuffle_epi8(table, indices[q]))
}

/// Sum over a group of `scale · w · x` in each row's lane; `x` is 32 bytes, read as quads. The
/// weights are unsigned, or signed bytes if `SIGNED`; `CHAIN` products of quads may be added in 16
/// bits before they are widened. `scales` are pairs of i16, those of values 0…15 and 16…31.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn dot<const CHAIN: usize, const SIGNED: bool>(
    w: &Group,
    x: &[i32; 8],
    scales: [__m256i; 2],
) -> __m256i {
    let product = |q: usize| {
        let x = _mm256_set1_epi32(x[q]);
        if SIGNED {
            // |w| · (x with the sign of w): at most 128 · 127 twice, which fits 16 bits.
            _mm256_maddubs_epi16(_mm256_abs_epi8(w[q]), _mm256_sign_epi8(x, w[q]))
        } else {
            _mm256_maddubs_epi16(w[q], x)
        }
    };
    let mut sum = _mm256_setzero_si256();
    for first in (0..8).step_by(CHAIN) {
        let mut words = product(first);
        for q in first + 1..first + CHAIN {
            words = _mm256_add_epi16(words, product(q));
        }
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(words, scales[first / 4]));
    }
    sum
}

/// Fetches the next eight rows ahead of time, a block's share at a time: they follow each other in
/// memory, while eight short rows read side by side are too many streams for the processor to
/// foresee.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn prefetch<const BYTES: usize>(rows: &[&[[u8; BYTES]]; 8], b: usize) {
    let ahead = (rows[0].len() + b) * 8 * BYTES;
    let first = rows[0].as_ptr().cast::<i8>().wrapping_add(ahead);
    for line in (0..8 * BYTES).step_by(64) {
        _mm_prefetch::<_MM_HINT_T0>(first.wrapping_add(line));
    }
}

/// The eight sums of one token so far.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn load_sums(acc: &[f32; 8]) -> __m256 {
    must_cast(*acc)
}

/// Writes them back.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn store_sums(acc: &mut [f32; 8], sums: __m256) {
    *acc = must_cast(sums);
}
