#![expect(unsafe_code, reason = "AVX-512 intrinsics; `Simd` proves that the processor has them")]
//! [`Lanes`] on zmm registers.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use crate::simd::avx2::{largest_of_eight, op, tree_of_eight};
use crate::simd::lanes::{LANES, Lanes, Tiled};

/// Sixteen f32 in a zmm register.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Avx512Lanes(__m512);

impl Lanes for Avx512Lanes {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self(op!(_mm512_set1_ps(x)))
    }

    #[inline(always)]
    fn load(from: &[f32; LANES]) -> Self {
        Self(must_cast(*from))
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = must_cast(self.0);
    }

    #[inline(always)]
    fn load_f16(from: &[u16; LANES]) -> Self {
        Self(op!(_mm512_cvtph_ps(must_cast(*from))))
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [u16; LANES]) {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        *to = must_cast(op!(_mm512_cvtps_ph::<NEAREST>(self.0)));
    }

    #[inline(always)]
    fn load_bf16(from: &[u16; LANES]) -> Self {
        let wide = op!(_mm512_cvtepu16_epi32(must_cast(*from)));
        let high = op!(_mm512_slli_epi32::<16>(wide));
        Self(op!(_mm512_castsi512_ps(high)))
    }

    #[inline(always)]
    fn load_i8(from: &[i8; LANES]) -> Self {
        let wide = op!(_mm512_cvtepi8_epi32(must_cast(*from)));
        Self(op!(_mm512_cvtepi32_ps(wide)))
    }

    #[inline(always)]
    fn store_i8(self, to: &mut [i8; LANES]) {
        let wide = op!(_mm512_cvtps_epi32(self.0));
        *to = must_cast(op!(_mm512_cvtepi32_epi8(wide)));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(op!(_mm512_add_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(op!(_mm512_sub_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(op!(_mm512_mul_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(op!(_mm512_div_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(op!(_mm512_fmadd_ps(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(op!(_mm512_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(op!(_mm512_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(op!(_mm512_abs_ps(self.0)))
    }

    #[inline(always)]
    fn max_bits(self, other: Self) -> Self {
        let (a, b) = (op!(_mm512_castps_si512(self.0)), op!(_mm512_castps_si512(other.0)));
        let most = op!(_mm512_max_epu32(a, b));
        Self(op!(_mm512_castsi512_ps(most)))
    }

    #[inline(always)]
    fn round(self) -> Self {
        // The upper half of the constant, zero, is the number of binary places to keep.
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        Self(op!(_mm512_roundscale_ps::<NEAREST>(self.0)))
    }

    #[inline(always)]
    fn times_power(self, n: Self) -> Self {
        Self(op!(_mm512_scalef_ps(self.0, n.0)))
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        let low = op!(_mm512_castps512_ps256(self.0));
        let high = op!(_mm512_extractf32x8_ps::<1>(self.0));
        largest_of_eight(op!(_mm256_max_ps(low, high)))
    }

    #[inline(always)]
    fn tree(self) -> f32 {
        let low = op!(_mm512_castps512_ps256(self.0));
        let high = op!(_mm512_extractf32x8_ps::<1>(self.0));
        tree_of_eight(op!(_mm256_add_ps(low, high)))
    }

    #[inline(always)]
    fn trees(v: [Self; LANES]) -> Self {
        // Vectors meet so that the sums come out in order: i and i + 4 at step 8, these and i + 8
        // and i + 12 at step 4, neighbours after that.
        let mut eights = [v[0]; 8];
        for i in 0..8 {
            let first = i / 2 + 8 * (i % 2);
            let (a, b) = (v[first].0, v[first + 4].0);
            let low = op!(_mm512_shuffle_f32x4::<0x44>(a, b));
            let high = op!(_mm512_shuffle_f32x4::<0xee>(a, b));
            eights[i] = Self(low).add(Self(high));
        }
        let mut fours = [v[0]; 4];
        for i in 0..4 {
            let (a, b) = (eights[2 * i].0, eights[2 * i + 1].0);
            let low = op!(_mm512_shuffle_f32x4::<0x88>(a, b));
            let high = op!(_mm512_shuffle_f32x4::<0xdd>(a, b));
            fours[i] = Self(low).add(Self(high));
        }
        let mut twos = [v[0]; 2];
        for i in 0..2 {
            let (a, b) = (fours[2 * i].0, fours[2 * i + 1].0);
            let low = op!(_mm512_shuffle_ps::<0x44>(a, b));
            let high = op!(_mm512_shuffle_ps::<0xee>(a, b));
            twos[i] = Self(low).add(Self(high));
        }
        let low = op!(_mm512_shuffle_ps::<0x88>(twos[0].0, twos[1].0));
        let high = op!(_mm512_shuffle_ps::<0xdd>(twos[0].0, twos[1].0));
        Self(low).add(Self(high))
    }

    #[inline(always)]
    fn tiled(work: impl Tiled) {
        // 24 sums leave eight of the 32 registers for rows and vectors.
        work.run::<Self, 4, 6>();
    }
}
