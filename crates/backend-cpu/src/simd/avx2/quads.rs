#![expect(unsafe_code, reason = "intrinsics of the features that `Simd` proves")]
//! [`Quads`] on ymm registers: eight rows.

use std::arch::x86_64::*;
use std::convert::Infallible;

use bytemuck::must_cast;

use crate::kernels::quant::TOKENS;
use crate::simd::quads::{Group, NIBBLE_BITS, Quads, Values, Weights, array};

/// The first byte of each lane in its half of a register, four times.
const LANE_STARTS: [i32; 8] =
    [0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c, 0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c];

/// Eight rows; `VNNI` where the processor has AVX-VNNI.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Ymm<const VNNI: bool>(__m256i);

impl<const VNNI: bool> Ymm<VNNI> {
    /// The products of a quad, in pairs of 16 bits.
    #[inline(always)]
    fn products<F: Weights>(w: Self, x: i32) -> __m256i {
        let x = op!(_mm256_set1_epi32(x));
        if F::SIGNED {
            // |w| · (x with the sign of w): at most 128 · 127 twice, which fits 16 bits.
            let (size, x) = (op!(_mm256_abs_epi8(w.0)), op!(_mm256_sign_epi8(x, w.0)));
            op!(_mm256_maddubs_epi16(size, x))
        } else {
            op!(_mm256_maddubs_epi16(w.0, x))
        }
    }

    /// `sums[t] += Σ scale · w · x` through 16-bit sums; scales are pairs of 16 bits.
    #[inline(always)]
    fn chained<F: Weights, const T: usize>(
        w: &Group<Self>,
        x: &[[i32; 8]; T],
        scales: &[Self; 2],
        sums: &mut [Self; T],
    ) {
        for first in (0..8).step_by(F::CHAIN) {
            let mut words = [op!(_mm256_setzero_si256()); T];
            for t in 0..T {
                words[t] = Self::products::<F>(w[first], x[t][first]);
            }
            for q in first + 1..first + F::CHAIN {
                for t in 0..T {
                    let products = Self::products::<F>(w[q], x[t][q]);
                    words[t] = op!(_mm256_add_epi16(words[t], products));
                }
            }
            for t in 0..T {
                let dwords = op!(_mm256_madd_epi16(words[t], scales[first / 4].0));
                sums[t].0 = op!(_mm256_add_epi32(sums[t].0, dwords));
            }
        }
    }

    /// `sums[t] += Σ w · x` over quads `from..to`, in the instruction for it.
    #[inline(always)]
    fn accumulate<const T: usize>(
        w: &Group<Self>,
        x: &[[i32; 8]; T],
        from: usize,
        to: usize,
        sums: &mut [Self; T],
    ) {
        for q in from..to {
            for t in 0..T {
                let x = op!(_mm256_set1_epi32(x[t][q]));
                sums[t].0 = op!(_mm256_dpbusd_avx_epi32(sums[t].0, w[q].0, x));
            }
        }
    }
}

impl<const VNNI: bool> Quads<8> for Ymm<VNNI> {
    type Floats = __m256;
    type Tiles = Infallible;

    const BIAS: i16 = if VNNI { 128 } else { 0 };

    #[inline(always)]
    fn splat(x: i32) -> Self {
        Self(op!(_mm256_set1_epi32(x)))
    }

    #[inline(always)]
    fn lanes(numbers: &[i32; 8]) -> Self {
        Self(must_cast(*numbers))
    }

    #[inline(always)]
    fn interleave(rows: &[[u8; 16]; 8]) -> [Self; 4] {
        let rows = array!([op!(_mm256_setzero_si256()); 4], r => {
            let low = op!(_mm256_castsi128_si256(must_cast(rows[r])));
            op!(_mm256_inserti128_si256::<1>(low, must_cast(rows[r + 4])))
        });
        let a = op!(_mm256_unpacklo_epi32(rows[0], rows[1]));
        let b = op!(_mm256_unpackhi_epi32(rows[0], rows[1]));
        let c = op!(_mm256_unpacklo_epi32(rows[2], rows[3]));
        let d = op!(_mm256_unpackhi_epi32(rows[2], rows[3]));
        [
            Self(op!(_mm256_unpacklo_epi64(a, c))),
            Self(op!(_mm256_unpackhi_epi64(a, c))),
            Self(op!(_mm256_unpacklo_epi64(b, d))),
            Self(op!(_mm256_unpackhi_epi64(b, d))),
        ]
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(op!(_mm256_and_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(op!(_mm256_or_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(op!(_mm256_xor_si256(self.0, other.0)))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(op!(_mm256_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(op!(_mm256_sub_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn sub_bytes(self, other: Self) -> Self {
        Self(op!(_mm256_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(op!(_mm256_mullo_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        Self(op!(_mm256_sllv_epi32(self.0, _mm256_set1_epi32(bits as i32))))
    }

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        Self(op!(_mm256_srlv_epi32(self.0, _mm256_set1_epi32(bits as i32))))
    }

    #[inline(always)]
    fn fifth_bits(self, top: Self, quad: usize) -> Self {
        // The byte that holds the four bits, four times in each lane.
        let pick = Self::splat((quad as i32 / 2) * 0x0101_0101).add(Self::lanes(&LANE_STARTS)).0;
        let spread = op!(_mm256_shuffle_epi8(top.0, pick));
        let bit = Self::splat(NIBBLE_BITS[quad % 2]).0;
        let is_set = op!(_mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit));
        Self(is_set).and(Self::splat(0x1010_1010)).or(self)
    }

    #[inline(always)]
    fn look_up(self, table: &[i8; 16]) -> Self {
        let table = op!(_mm256_broadcastsi128_si256(must_cast(*table)));
        Self(op!(_mm256_shuffle_epi8(table, self.0)))
    }

    #[inline(always)]
    fn signed(self) -> Self {
        if VNNI { self.xor(Self::splat(0x8080_8080_u32.cast_signed())) } else { self }
    }

    #[inline(always)]
    fn dots<F: Weights, const T: usize>(w: &Group<Self>, x: &[[i32; 8]; T], sums: &mut [Self; T]) {
        if VNNI {
            Self::accumulate(w, x, 0, 8, sums);
        } else {
            Self::chained::<F, T>(w, x, &[Self::splat(0x0001_0001); 2], sums);
        }
    }

    #[inline(always)]
    fn scale(self) -> Self {
        if VNNI { self } else { self.and(Self::splat(0xffff)).or(self.shl(16)) }
    }

    #[inline(always)]
    fn scaled_dots<F: Weights, const T: usize>(
        w: &Group<Self>,
        x: &[[i32; 8]; T],
        scales: &[Self; 2],
        sums: &mut [Self; T],
    ) {
        if !VNNI {
            return Self::chained::<F, T>(w, x, scales, sums);
        }
        let (parts, of) = if F::WIDE { (1, 8) } else { (2, 4) };
        for part in 0..parts {
            let mut products = [Self::splat(0); T];
            Self::accumulate(w, x, part * of, part * of + of, &mut products);
            for t in 0..T {
                sums[t] = products[t].mul(scales[part]).add(sums[t]);
            }
        }
    }

    #[inline(always)]
    fn add_pairs(self, pairs: Self, x: i32) -> Self {
        let x = op!(_mm256_set1_epi32(x));
        if VNNI {
            Self(op!(_mm256_dpwssd_avx_epi32(self.0, pairs.0, x)))
        } else {
            Self(op!(_mm256_add_epi32(self.0, _mm256_madd_epi16(pairs.0, x))))
        }
    }

    #[inline(always)]
    fn tiles() -> Option<Infallible> {
        None
    }

    #[inline(always)]
    fn tile_dots(
        tiles: &Infallible,
        _w: &Group<Self>,
        _values: Values,
        _x: &[[i32; 8]; TOKENS],
        _sums: &mut [Self; TOKENS],
    ) {
        match *tiles {}
    }

    #[inline(always)]
    fn zeros() -> __m256 {
        op!(_mm256_setzero_ps())
    }

    #[inline(always)]
    fn floats(from: &[f32; 8]) -> __m256 {
        must_cast(*from)
    }

    #[inline(always)]
    fn store(floats: __m256, to: &mut [f32; 8]) {
        *to = must_cast(floats);
    }

    #[inline(always)]
    fn low_f16(self) -> __m256 {
        let low = self.and(Self::splat(0xffff)).0;
        let (a, b) = (op!(_mm256_castsi256_si128(low)), op!(_mm256_extracti128_si256::<1>(low)));
        op!(_mm256_cvtph_ps(_mm_packus_epi32(a, b)))
    }

    #[inline(always)]
    fn link(self, d: __m256, scale: f32, chain: __m256) -> __m256 {
        let d = op!(_mm256_mul_ps(d, _mm256_set1_ps(scale)));
        op!(_mm256_fmadd_ps(_mm256_cvtepi32_ps(self.0), d, chain))
    }

    #[inline(always)]
    fn unlink(self, m: __m256, scale: f32, chain: __m256) -> __m256 {
        let m = op!(_mm256_mul_ps(m, _mm256_set1_ps(scale)));
        op!(_mm256_fnmadd_ps(_mm256_cvtepi32_ps(self.0), m, chain))
    }
}
