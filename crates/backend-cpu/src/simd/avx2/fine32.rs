//! Integer dot products of q8_0 weights with q16_0 activations.
//!
//! Each row multiplies its own block, and the sums of eight rows are added up into one vector:
//! there is nothing to unpack, so interleaving the rows would only cost. A pair of products is at
//! most 2 · 128 · 32767, a block's sum 2^27.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use crate::kernels::quant::Q16_0Row;
use crate::simd::integer::{ROWS, Rows, Sums};
use crate::simd::quads::{self, array};

const BYTES: usize = 34;

/// The chains of the rows' outputs for each token: both halves of a tile's rows side by side, so
/// that all its runs are read at once.
#[target_feature(enable = "avx2,fma,f16c")]
pub(in crate::simd) fn q8_0_q16_0(rows: &Rows<'_>, xs: &[Q16_0Row<'_>], acc: &mut [Sums]) {
    let blocks = rows[0].len() / BYTES;
    let rows = array!([&[][..]; ROWS], r => &rows[r].as_chunks::<BYTES>().0[..blocks]);
    for (t, (x, acc)) in xs.iter().zip(acc).enumerate() {
        let mut chains: [__m256; 2] = must_cast(*acc);
        for b in 0..blocks {
            if t == 0 {
                quads::prefetch(&rows, b);
            }
            let scale = _mm256_set1_ps(x.scales[b]);
            for half in 0..2 {
                let block = array!([&rows[0][b]; 8], r => &rows[8 * half + r][b]);
                let sums = array!([_mm256_setzero_si256(); 8], r => products(block[r], &x.q[b]));
                let bits = array!([0; 8], r => u16::from_le_bytes(quads::field(block[r], 0)));
                let d = _mm256_mul_ps(_mm256_cvtph_ps(must_cast(bits)), scale);
                let sums = _mm256_cvtepi32_ps(add_up(&sums));
                chains[half] = _mm256_fmadd_ps(sums, d, chains[half]);
            }
        }
        *acc = must_cast(chains);
    }
}

/// The products of a block, as eight partial sums.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn products(block: &[u8; BYTES], x: &[i16; 32]) -> __m256i {
    let (x, _) = x.as_chunks::<16>();
    let half = |at: usize, x: &[i16; 16]| {
        let w = _mm256_cvtepi8_epi16(must_cast(quads::field::<BYTES, 16>(block, at)));
        _mm256_madd_epi16(w, must_cast(*x))
    };
    _mm256_add_epi32(half(2, &x[0]), half(18, &x[1]))
}

/// The sum of each vector's lanes, in its lane.
#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add_up(v: &[__m256i; 8]) -> __m256i {
    let pairs = array!([v[0]; 4], i => {
        let (a, b) = (v[2 * i], v[2 * i + 1]);
        _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
    });
    let fours = array!([v[0]; 2], i => {
        let (a, b) = (pairs[2 * i], pairs[2 * i + 1]);
        _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b))
    });
    let low = _mm256_permute2x128_si256::<0x20>(fours[0], fours[1]);
    let high = _mm256_permute2x128_si256::<0x31>(fours[0], fours[1]);
    _mm256_add_epi32(low, high)
}
