#![expect(unsafe_code, reason = "AVX2 intrinsics; `Simd` proves that the processor has them")]
//! [`Lanes`] on ymm registers.

use std::arch::x86_64::*;

use bytemuck::must_cast;

use crate::simd::lanes::{LANES, Lanes, Tiled};
use crate::simd::quads::array;

/// Sixteen f32 in two ymm registers.
#[derive(Clone, Copy)]
pub(in crate::simd) struct Avx2Lanes([__m256; 2]);

/// The same of both registers.
macro_rules! both {
    ($i:ident => $value:expr) => {
        array!([op!(_mm256_setzero_ps()); 2], $i => $value)
    };
}

impl Lanes for Avx2Lanes {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([op!(_mm256_set1_ps(x)); 2])
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
        let halves: [__m128i; 2] = must_cast(*from);
        Self(both!(i => op!(_mm256_cvtph_ps(halves[i]))))
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [u16; LANES]) {
        let low = op!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0[0]));
        let high = op!(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0[1]));
        *to = must_cast([low, high]);
    }

    #[inline(always)]
    fn load_bf16(from: &[u16; LANES]) -> Self {
        let halves: [__m128i; 2] = must_cast(*from);
        Self(both!(i => {
            let wide = op!(_mm256_cvtepu16_epi32(halves[i]));
            let high = op!(_mm256_slli_epi32::<16>(wide));
            op!(_mm256_castsi256_ps(high))
        }))
    }

    #[inline(always)]
    fn load_i8(from: &[i8; LANES]) -> Self {
        let halves: [i64; 2] = must_cast(*from);
        Self(both!(i => {
            let bytes = op!(_mm_cvtsi64_si128(halves[i]));
            let wide = op!(_mm256_cvtepi8_epi32(bytes));
            op!(_mm256_cvtepi32_ps(wide))
        }))
    }

    #[inline(always)]
    fn store_i8(self, to: &mut [i8; LANES]) {
        let low = op!(_mm256_cvtps_epi32(self.0[0]));
        let high = op!(_mm256_cvtps_epi32(self.0[1]));
        // Packing works on the halves of both apart: bring the pieces back in order.
        let words = op!(_mm256_packs_epi32(low, high));
        let words = op!(_mm256_permute4x64_epi64::<0b11_01_10_00>(words));
        let low = op!(_mm256_castsi256_si128(words));
        let high = op!(_mm256_extracti128_si256::<1>(words));
        *to = must_cast(op!(_mm_packs_epi16(low, high)));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_add_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_sub_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_mul_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_div_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(both!(i => op!(_mm256_fmadd_ps(self.0[i], b.0[i], c.0[i]))))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_max_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(both!(i => op!(_mm256_min_ps(self.0[i], other.0[i]))))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        let sign = op!(_mm256_set1_ps(-0.0));
        Self(both!(i => op!(_mm256_andnot_ps(sign, self.0[i]))))
    }

    #[inline(always)]
    fn max_bits(self, other: Self) -> Self {
        let (a, b): ([__m256i; 2], [__m256i; 2]) = (must_cast(self.0), must_cast(other.0));
        Self(both!(i => {
            let most = op!(_mm256_max_epu32(a[i], b[i]));
            op!(_mm256_castsi256_ps(most))
        }))
    }

    #[inline(always)]
    fn round(self) -> Self {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        Self(both!(i => op!(_mm256_round_ps::<NEAREST>(self.0[i]))))
    }

    #[inline(always)]
    fn times_power(self, n: Self) -> Self {
        Self(both!(i => {
            let n = op!(_mm256_cvtps_epi32(n.0[i]));
            let half = op!(_mm256_srai_epi32::<1>(n));
            let rest = op!(_mm256_sub_epi32(n, half));
            let first = op!(_mm256_mul_ps(self.0[i], power(half)));
            op!(_mm256_mul_ps(first, power(rest)))
        }))
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        largest_of_eight(op!(_mm256_max_ps(self.0[0], self.0[1])))
    }

    #[inline(always)]
    fn tree(self) -> f32 {
        tree_of_eight(op!(_mm256_add_ps(self.0[0], self.0[1])))
    }

    #[inline(always)]
    fn trees(v: [Self; LANES]) -> Self {
        Self(both!(i => {
            let sums = array!([v[0].0[0]; 8], j => {
                let [low, high] = v[8 * i + j].0;
                op!(_mm256_add_ps(low, high))
            });
            eight_trees(sums)
        }))
    }

    #[inline(always)]
    fn tiled(work: impl Tiled) {
        // Six sums take twelve of the sixteen registers.
        work.run::<Self, 2, 3>();
    }
}

/// The largest of eight lanes.
#[inline(always)]
pub(in crate::simd) fn largest_of_eight(eight: __m256) -> f32 {
    let upper = op!(_mm256_extractf128_ps::<1>(eight));
    let lower = op!(_mm256_castps256_ps128(eight));
    let four = op!(_mm_max_ps(lower, upper));
    let upper = op!(_mm_movehl_ps(four, four));
    let two = op!(_mm_max_ps(four, upper));
    let upper = op!(_mm_movehdup_ps(two));
    let one = op!(_mm_max_ss(two, upper));
    op!(_mm_cvtss_f32(one))
}

/// The tree from its second step on, over eight lanes.
#[inline(always)]
pub(in crate::simd) fn tree_of_eight(eight: __m256) -> f32 {
    let upper = op!(_mm256_extractf128_ps::<1>(eight));
    let lower = op!(_mm256_castps256_ps128(eight));
    let four = op!(_mm_add_ps(lower, upper));
    let upper = op!(_mm_movehl_ps(four, four));
    let two = op!(_mm_add_ps(four, upper));
    let upper = op!(_mm_movehdup_ps(two));
    let one = op!(_mm_add_ss(two, upper));
    op!(_mm_cvtss_f32(one))
}

/// Eight of them: step 4 for vectors i and i + 4 together, then step 2, then step 1, in pairs of
/// vectors.
#[inline(always)]
fn eight_trees(v: [__m256; 8]) -> __m256 {
    let fours = array!([v[0]; 4], i => {
        let low = op!(_mm256_permute2f128_ps::<0x20>(v[i], v[i + 4]));
        let high = op!(_mm256_permute2f128_ps::<0x31>(v[i], v[i + 4]));
        op!(_mm256_add_ps(low, high))
    });
    let twos = array!([v[0]; 2], i => {
        let (a, b) = (fours[2 * i], fours[2 * i + 1]);
        let low = op!(_mm256_shuffle_ps::<0x44>(a, b));
        let high = op!(_mm256_shuffle_ps::<0xee>(a, b));
        op!(_mm256_add_ps(low, high))
    });
    let low = op!(_mm256_shuffle_ps::<0x88>(twos[0], twos[1]));
    let high = op!(_mm256_shuffle_ps::<0xdd>(twos[0], twos[1]));
    op!(_mm256_add_ps(low, high))
}

/// 2^n for n from -126 to 127.
#[inline(always)]
fn power(n: __m256i) -> __m256 {
    let bias = op!(_mm256_set1_epi32(127));
    let exponent = op!(_mm256_add_epi32(n, bias));
    let bits = op!(_mm256_slli_epi32::<23>(exponent));
    op!(_mm256_castsi256_ps(bits))
}
