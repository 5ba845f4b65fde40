//! Integer dot products of the formats with super-blocks of 256 values, with q8_k activations.
//!
//! A group of 32 values is unpacked at a time, for all tokens. Sub-scales multiply the 16-bit sums
//! in the instruction that widens them. Chains of 16-bit sums: values up to 3 or 7 and groups of 16
//! allow four quads, up to 15 eight, up to 31 four, up to 63 two (63 · 127 · 4 = 32004).

use std::arch::x86_64::*;

use super::quads::{self, Group, array};
use crate::kernels::quant::{Q8KRow, iq4_nl, iq4_xs, q2_k, q3_k, q4_k, q6_k};

/// Tokens whose integer sums are kept at once.
const TOKENS: usize = 32;

/// A super-block of eight rows; i16 pairs lie in the dword lanes of their rows.
struct Block {
    /// Groups of 32 values.
    groups: [Group; 8],
    /// Sub-scales of each 16 values, twice in a pair.
    scales: [__m256i; 16],
    /// Minima or offsets of 16 values and of the next 16, as a pair.
    mins: Option<[__m256i; 8]>,
    d: __m256,
    /// Factor on the minima; where there is none, they are taken from the integer sum.
    m: Option<__m256>,
}

/// The chains of eight outputs for each token.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn chains<const BYTES: usize, const CHAIN: usize, const SIGNED: bool>(
    rows: &[&[u8]; 8],
    xs: &[Q8KRow<'_>],
    acc: &mut [[f32; 8]],
    unpack: impl Fn(&[&[u8; BYTES]; 8]) -> Block,
) {
    let blocks = rows[0].len() / BYTES;
    let rows = array!([&[][..]; 8], r => &rows[r].as_chunks::<BYTES>().0[..blocks]);
    let mut sums = [_mm256_setzero_si256(); TOKENS];
    for b in 0..blocks {
        quads::prefetch(&rows, b);
        let block = unpack(&array!([&rows[0][b]; 8], r => &rows[r][b]));
        for (xs, acc) in xs.chunks(TOKENS).zip(acc.chunks_mut(TOKENS)) {
            sums[..xs.len()].fill(_mm256_setzero_si256());
            for (g, w) in block.groups.iter().enumerate() {
                let scales = [block.scales[2 * g], block.scales[2 * g + 1]];
                for (x, sum) in xs.iter().zip(&mut sums) {
                    let part = quads::dot::<CHAIN, SIGNED>(w, &x.quads[b][g], scales);
                    *sum = _mm256_add_epi32(*sum, part);
                }
            }
            for ((x, acc), sum) in xs.iter().zip(acc).zip(sums) {
                finish(&block, x, b, acc, sum);
            }
        }
    }
}

/// Adds a super-block's sum to a token's chains.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn finish(block: &Block, x: &Q8KRow<'_>, b: usize, acc: &mut [f32; 8], sum: __m256i) {
    let mut least = _mm256_setzero_si256();
    if let Some(mins) = &block.mins {
        for (min, pair) in mins.iter().zip(x.sums[b].as_chunks::<2>().0) {
            let pair = _mm256_set1_epi32(pack(pair[0], pair[1]));
            least = _mm256_add_epi32(least, _mm256_madd_epi16(*min, pair));
        }
    }
    let scale = _mm256_set1_ps(x.scales[b]);
    let d = _mm256_mul_ps(block.d, scale);
    let chain = quads::load_sums(acc);
    let Some(m) = block.m else {
        let sum = _mm256_cvtepi32_ps(_mm256_sub_epi32(sum, least));
        return quads::store_sums(acc, _mm256_fmadd_ps(sum, d, chain));
    };
    let chain = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), d, chain);
    let m = _mm256_mul_ps(m, scale);
    quads::store_sums(acc, _mm256_fnmadd_ps(_mm256_cvtepi32_ps(least), m, chain));
}

/// Two i16 in the order of a pair.
#[inline(always)]
fn pack(low: i16, high: i16) -> i32 {
    i32::from(low.cast_unsigned()) | (i32::from(high) << 16)
}

/// `N` numbers of eight rows as pairs: number n of row r twice in lane r of vector n.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn twice<const N: usize>(numbers: &[[i16; N]; 8]) -> [__m256i; N] {
    array!([_mm256_setzero_si256(); N], n => {
        quads::lanes(&array!([0; 8], r => pack(numbers[r][n], numbers[r][n])))
    })
}

/// Numbers of 16 groups of 16 values, times `factor`, as pairs of neighbours.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn neighbours(numbers: &[[i16; 16]; 8], factor: i16) -> [__m256i; 8] {
    array!([_mm256_setzero_si256(); 8], p => {
        let pair = |r: usize| pack(numbers[r][2 * p] * factor, numbers[r][2 * p + 1] * factor);
        quads::lanes(&array!([0; 8], r => pair(r)))
    })
}

/// Each of eight vectors twice: groups of 32 have one number for both halves.
#[inline(always)]
fn halves(vectors: [__m256i; 8]) -> [__m256i; 16] {
    array!([vectors[0]; 16], i => vectors[i / 2])
}

/// Bits `shift..` of each byte of a group, masked.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn bits(group: &Group, shift: usize, mask: i8) -> Group {
    let count = _mm_cvtsi32_si128(shift as i32);
    let mask = _mm256_set1_epi8(mask);
    array!([mask; 8], q => _mm256_and_si256(_mm256_srl_epi16(group[q], count), mask))
}

/// `a | b << SHIFT`; the bits of b stay inside their bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn join<const SHIFT: i32>(a: &Group, b: &Group) -> Group {
    array!([a[0]; 8], q => _mm256_or_si256(a[q], _mm256_slli_epi16::<SHIFT>(b[q])))
}

/// Groups of 32 from 4 bits a value, 64 values in a run of 32 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn four_bits<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> [Group; 8] {
    let runs = array!([[_mm256_setzero_si256(); 8]; 4], h => quads::bytes(blocks, at + 32 * h));
    array!([runs[0]; 8], g => bits(&runs[g / 2], g % 2 * 4, 15))
}

/// Groups of 32 from 2 bits a value, 128 values in a run of 32 bytes.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn two_bits<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> [Group; 8] {
    let runs = array!([[_mm256_setzero_si256(); 8]; 2], h => quads::bytes(blocks, at + 32 * h));
    array!([runs[0]; 8], g => bits(&runs[g / 4], g % 4 * 2, 3))
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_q2_k(b: &[&[u8; 84]; 8]) -> Block {
    let scales = array!([[0; 16]; 8], r => q2_k::scales(b[r]).0);
    let mins = array!([[0; 16]; 8], r => q2_k::scales(b[r]).1);
    Block {
        groups: two_bits(b, 16),
        scales: twice(&scales),
        mins: Some(neighbours(&mins, 1)),
        d: quads::f16s(b, 80),
        m: Some(quads::f16s(b, 82)),
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_q3_k(b: &[&[u8; 110]; 8]) -> Block {
    let (low, top) = (two_bits(b, 32), quads::bytes(b, 0));
    let scales = array!([[0; 16]; 8], r => q3_k::scales(b[r]));
    Block {
        groups: array!([top; 8], g => join::<2>(&low[g], &bits(&top, g, 1))),
        scales: twice(&scales),
        mins: Some(neighbours(&scales, 4)),
        d: quads::f16s(b, 108),
        m: None,
    }
}

/// What q4_k and q5_k share.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn six_bit_scales<const BYTES: usize>(b: &[&[u8; BYTES]; 8], groups: [Group; 8]) -> Block {
    let scales = array!([[0; 8]; 8], r => q4_k::scales(&quads::field(b[r], 4)).0);
    let mins = array!([[0; 8]; 8], r => q4_k::scales(&quads::field(b[r], 4)).1);
    Block {
        groups,
        scales: halves(twice(&scales)),
        mins: Some(twice(&mins)),
        d: quads::f16s(b, 0),
        m: Some(quads::f16s(b, 2)),
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_q5_k(b: &[&[u8; 176]; 8]) -> Block {
    let (low, top) = (four_bits(b, 48), quads::bytes(b, 16));
    six_bit_scales(b, array!([top; 8], g => join::<4>(&low[g], &bits(&top, g, 1))))
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_q6_k(b: &[&[u8; 210]; 8]) -> Block {
    // 128 values in 64 bytes of low halves, the first 64 in the low nibbles.
    let top = two_bits(b, 128);
    let runs = array!([top[0]; 4], h => quads::bytes(b, 32 * h));
    let scales = array!([[0; 16]; 8], r => q6_k::scales(b[r]));
    let groups = array!([top[0]; 8], g => {
        let low = bits(&runs[g / 4 * 2 + g % 2], g % 4 / 2 * 4, 15);
        join::<4>(&low, &top[g])
    });
    Block {
        groups,
        scales: twice(&scales),
        mins: Some(neighbours(&scales, 32)),
        d: quads::f16s(b, 208),
        m: None,
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_q8_k(b: &[&[u8; 292]; 8]) -> Block {
    let d = array!([0.0; 8], r => f32::from_le_bytes(quads::field(b[r], 0)));
    Block {
        groups: array!([[_mm256_setzero_si256(); 8]; 8], g => quads::bytes(b, 4 + 32 * g)),
        scales: [_mm256_set1_epi16(1); 16],
        mins: None,
        d: quads::load_sums(&d),
        m: None,
    }
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn unpack_iq4_xs(b: &[&[u8; 136]; 8]) -> Block {
    Block {
        groups: array!([[_mm256_setzero_si256(); 8]; 8], g => {
            quads::look_up(&iq4_nl::LEVELS, quads::nibbles(b, 8 + 16 * g))
        }),
        scales: halves(twice(&array!([[0; 8]; 8], r => iq4_xs::scales(b[r])))),
        mins: None,
        d: quads::f16s(b, 0),
        m: None,
    }
}

/// Defines the entry of a format.
macro_rules! formats {
    ($($name:ident: $bytes:literal, $chain:literal, $signed:literal, $unpack:expr;)*) => {$(
        #[target_feature(enable = "avx2,fma,f16c")]
        pub(in crate::simd) fn $name(
            rows: &[&[u8]; 8],
            xs: &[Q8KRow<'_>],
            acc: &mut [[f32; 8]],
        ) {
            chains::<$bytes, $chain, $signed>(rows, xs, acc, $unpack);
        }
    )*};
}

formats! {
    q2_k: 84, 4, false, |b| unpack_q2_k(b);
    q3_k: 110, 4, false, |b| unpack_q3_k(b);
    q4_k: 144, 8, false, |b| six_bit_scales(b, four_bits(b, 16));
    q5_k: 176, 4, false, |b| unpack_q5_k(b);
    q6_k: 210, 2, false, |b| unpack_q6_k(b);
    q8_k: 292, 1, true, |b| unpack_q8_k(b);
    iq4_xs: 136, 1, true, |b| unpack_iq4_xs(b);
}
