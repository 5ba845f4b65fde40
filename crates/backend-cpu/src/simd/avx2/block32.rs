//! Integer dot products of the formats with blocks of 32 values, with q8_0 activations.
//!
//! Chains of 16-bit sums: a quad adds two products to a word, so values up to 15 allow eight quads
//! (15 · 127 · 16 = 30480), values up to 31 four (31 · 127 · 8 = 31496).

use std::arch::x86_64::*;

use super::quads::{self, Group, array};
use crate::kernels::quant::Q8_0Row;
use crate::kernels::quant::{iq4_nl, mxfp4};

/// A block of eight rows.
struct Block {
    w: Group,
    d: __m256,
    /// Added once per block, times Σ x, where the format has it.
    m: Option<__m256>,
}

/// The chains of eight outputs for each token: `unpack` gives each block once for all tokens.
/// `OFFSET` is taken from every unsigned value. A single token's chains stay in a register: through
/// memory, each link would wait for a store.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn chains<const BYTES: usize, const CHAIN: usize, const SIGNED: bool, const OFFSET: i32>(
    rows: &[&[u8]; 8],
    xs: &[Q8_0Row<'_>],
    acc: &mut [[f32; 8]],
    unpack: impl Fn(&[&[u8; BYTES]; 8]) -> Block,
) {
    let blocks = rows[0].len() / BYTES;
    let rows = array!([&[][..]; 8], r => &rows[r].as_chunks::<BYTES>().0[..blocks]);
    if let ([x], [acc]) = (xs, &mut *acc) {
        let mut chain = quads::load_sums(acc);
        for b in 0..blocks {
            quads::prefetch(&rows, b);
            let block = unpack(&array!([&rows[0][b]; 8], r => &rows[r][b]));
            chain = link::<CHAIN, SIGNED, OFFSET>(&block, x, b, chain);
        }
        return quads::store_sums(acc, chain);
    }
    for b in 0..blocks {
        quads::prefetch(&rows, b);
        let block = unpack(&array!([&rows[0][b]; 8], r => &rows[r][b]));
        for (x, acc) in xs.iter().zip(acc.iter_mut()) {
            let chain = quads::load_sums(acc);
            quads::store_sums(acc, link::<CHAIN, SIGNED, OFFSET>(&block, x, b, chain));
        }
    }
}

/// A token's chains, one block further.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn link<const CHAIN: usize, const SIGNED: bool, const OFFSET: i32>(
    block: &Block,
    x: &Q8_0Row<'_>,
    b: usize,
    chain: __m256,
) -> __m256 {
    let ones = [_mm256_set1_epi16(1); 2];
    let mut sum = quads::dot::<CHAIN, SIGNED>(&block.w, &x.quads[b], ones);
    if OFFSET != 0 {
        sum = _mm256_sub_epi32(sum, _mm256_set1_epi32(OFFSET * x.sums[b]));
    }
    let scale = _mm256_set1_ps(x.scales[b]);
    let chain = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_mul_ps(block.d, scale), chain);
    match block.m {
        Some(m) => {
            let sum = _mm256_cvtepi32_ps(_mm256_set1_epi32(x.sums[b]));
            _mm256_fmadd_ps(sum, _mm256_mul_ps(m, scale), chain)
        }
        None => chain,
    }
}

/// Defines the entry of a format.
macro_rules! formats {
    ($(
        $name:ident: $bytes:literal, $chain:literal, $signed:literal, $offset:literal,
        $unpack:expr;
    )*) => {$(
        #[target_feature(enable = "avx2,fma,f16c")]
        pub(in crate::simd) fn $name(
            rows: &[&[u8]; 8],
            xs: &[Q8_0Row<'_>],
            acc: &mut [[f32; 8]],
        ) {
            chains::<$bytes, $chain, $signed, $offset>(rows, xs, acc, $unpack);
        }
    )*};
}

formats! {
    q4_0: 18, 8, false, 8, |b| Block { w: quads::nibbles(b, 2), d: quads::f16s(b, 0), m: None };
    q4_1: 20, 8, false, 0, |b| Block {
        w: quads::nibbles(b, 4),
        d: quads::f16s(b, 0),
        m: Some(quads::f16s(b, 2)),
    };
    q5_0: 22, 4, false, 16, |b| Block { w: five_bits(b, 2), d: quads::f16s(b, 0), m: None };
    q5_1: 24, 4, false, 0, |b| Block {
        w: five_bits(b, 4),
        d: quads::f16s(b, 0),
        m: Some(quads::f16s(b, 2)),
    };
    q8_0: 34, 1, true, 0, |b| Block { w: quads::bytes(b, 2), d: quads::f16s(b, 0), m: None };
    iq4_nl: 18, 1, true, 0, |b| Block {
        w: quads::look_up(&iq4_nl::LEVELS, quads::nibbles(b, 2)),
        d: quads::f16s(b, 0),
        m: None,
    };
    mxfp4: 17, 1, true, 0, |b| Block {
        w: quads::look_up(&mxfp4::LEVELS, quads::nibbles(b, 1)),
        d: half_scales(b),
        m: None,
    };
}

/// Levels of five bits: the top bits as a u32 at `at`, then the low halves.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn five_bits<const BYTES: usize>(blocks: &[&[u8; BYTES]; 8], at: usize) -> Group {
    let low = quads::nibbles(blocks, at + 4);
    let top = array!([0; 8], r => i32::from_le_bytes(quads::field(blocks[r], at)));
    let top = quads::lanes(&top);
    let bits = [_mm256_set1_epi32(0x0804_0201), _mm256_set1_epi32(0x8040_2010_u32.cast_signed())];
    array!([low[0]; 8], q => {
        // Byte q / 2 of each lane's u32 to all four bytes; bit 4 (q % 2) + i of it belongs to byte
        // i.
        let pick = _mm256_set_epi32(12, 8, 4, 0, 12, 8, 4, 0);
        let pick = _mm256_add_epi32(pick, _mm256_set1_epi32(q as i32 / 2));
        let pick = _mm256_mullo_epi32(pick, _mm256_set1_epi32(0x0101_0101));
        let spread = _mm256_shuffle_epi8(top, pick);
        let bit = bits[q % 2];
        let is_set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
        _mm256_or_si256(low[q], _mm256_and_si256(is_set, _mm256_set1_epi8(16)))
    })
}

/// MXFP4's scales.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn half_scales(blocks: &[&[u8; 17]; 8]) -> __m256 {
    let d = array!([0.0; 8], r => mxfp4::half_scale(blocks[r][0]));
    quads::load_sums(&d)
}
