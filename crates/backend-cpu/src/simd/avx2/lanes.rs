#![expect(unsafe_code, reason = "AVX2 intrinsics; `Simd` proves that the processor has them")]
//! [`Lanes`] on ymm registers.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use crate::simd::lanes::{LANES, Lanes};
use crate::simd::quads::array;

/// Eight f32 in a ymm register.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Avx2Lanes(__m256);

/// One intrinsic of these features.
macro_rules! op {
    ($intrinsic:expr) => {
        // SAFETY: this code runs only where `Simd` has proved AVX2, FMA and F16C.
        unsafe { $intrinsic }
    };
}

impl Lanes for Avx2Lanes {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self(op!(_mm256_set1_ps(x)))
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
        Self(op!(_mm256_cvtph_ps(must_cast(*from))))
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [u16; LANES]) {
        let bits = op!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0));
        *to = must_cast(bits);
    }

    #[inline(always)]
    fn load_bf16(from: &[u16; LANES]) -> Self {
        let wide = op!(_mm256_cvtepu16_epi32(must_cast(*from)));
        let high = op!(_mm256_slli_epi32::<16>(wide));
        Self(op!(_mm256_castsi256_ps(high)))
    }

    #[inline(always)]
    fn load_i8(from: &[i8; LANES]) -> Self {
        let bytes = must_cast::<[i8; LANES], i64>(*from);
        let wide = op!(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(bytes)));
        Self(op!(_mm256_cvtepi32_ps(wide)))
    }

    #[inline(always)]
    fn store_i8(self, to: &mut [i8; LANES]) {
        let wide = op!(_mm256_cvtps_epi32(self.0));
        let low = op!(_mm256_castsi256_si128(wide));
        let high = op!(_mm256_extracti128_si256::<1>(wide));
        let words = op!(_mm_packs_epi32(low, high));
        let bytes = op!(_mm_packs_epi16(words, words));
        *to = must_cast(op!(_mm_cvtsi128_si64(bytes)));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(op!(_mm256_add_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(op!(_mm256_sub_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(op!(_mm256_mul_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(op!(_mm256_div_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(op!(_mm256_fmadd_ps(self.0, b.0, c.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(op!(_mm256_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(op!(_mm256_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        let sign = op!(_mm256_set1_ps(-0.0));
        Self(op!(_mm256_andnot_ps(sign, self.0)))
    }

    #[inline(always)]
    fn max_bits(self, other: Self) -> Self {
        let (a, b) = (op!(_mm256_castps_si256(self.0)), op!(_mm256_castps_si256(other.0)));
        let most = op!(_mm256_max_epu32(a, b));
        Self(op!(_mm256_castsi256_ps(most)))
    }

    #[inline(always)]
    fn round(self) -> Self {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        Self(op!(_mm256_round_ps::<NEAREST>(self.0)))
    }

    #[inline(always)]
    fn times_power(self, n: Self) -> Self {
        let n = op!(_mm256_cvtps_epi32(n.0));
        let half = op!(_mm256_srai_epi32::<1>(n));
        let rest = op!(_mm256_sub_epi32(n, half));
        self.mul(power(half)).mul(power(rest))
    }

    #[inline(always)]
    fn tree(low: Self, high: Self) -> f32 {
        let eight = low.add(high).0;
        let upper = op!(_mm256_extractf128_ps::<1>(eight));
        let lower = op!(_mm256_castps256_ps128(eight));
        let four = op!(_mm_add_ps(lower, upper));
        let upper = op!(_mm_movehl_ps(four, four));
        let two = op!(_mm_add_ps(four, upper));
        let upper = op!(_mm_movehdup_ps(two));
        let one = op!(_mm_add_ss(two, upper));
        op!(_mm_cvtss_f32(one))
    }

    #[inline(always)]
    fn trees(v: [Self; LANES]) -> Self {
        // Step 4 for vectors i and i + 4 together, then step 2, then step 1, in pairs of vectors.
        let fours = array!([v[0]; 4], i => {
            let low = op!(_mm256_permute2f128_ps::<0x20>(v[i].0, v[i + 4].0));
            let high = op!(_mm256_permute2f128_ps::<0x31>(v[i].0, v[i + 4].0));
            Self(low).add(Self(high))
        });
        let twos = array!([v[0]; 2], i => {
            let (a, b) = (fours[2 * i].0, fours[2 * i + 1].0);
            let low = op!(_mm256_shuffle_ps::<0x44>(a, b));
            let high = op!(_mm256_shuffle_ps::<0xee>(a, b));
            Self(low).add(Self(high))
        });
        let low = op!(_mm256_shuffle_ps::<0x88>(twos[0].0, twos[1].0));
        let high = op!(_mm256_shuffle_ps::<0xdd>(twos[0].0, twos[1].0));
        Self(low).add(Self(high))
    }
}

/// 2^n for n from -126 to 127.
#[inline(always)]
fn power(n: __m256i) -> Avx2Lanes {
    let bias = op!(_mm256_set1_epi32(127));
    let exponent = op!(_mm256_add_epi32(n, bias));
    let bits = op!(_mm256_slli_epi32::<23>(exponent));
    Avx2Lanes(op!(_mm256_castsi256_ps(bits)))
}
