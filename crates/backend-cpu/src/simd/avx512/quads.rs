#![expect(unsafe_code, reason = "intrinsics of the features that `Simd` proves")]
//! [`Quads`] on zmm registers, with VNNI: sixteen rows.

use std::arch::x86_64::*;

use bytemuck::{Pod, Zeroable, must_cast, must_cast_mut, must_cast_ref};

use crate::kernels::quant::TOKENS;
use crate::simd::amx::{self, Tiles};
use crate::simd::avx2::op;
use crate::simd::quads::{Group, NIBBLE_BITS, Quads, Values, Weights, array};

/// Sixteen rows; `AMX` where the processor has tile registers.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(in crate::simd) struct Zmm<const AMX: bool>(__m512i);

impl<const AMX: bool> Zmm<AMX> {
    /// `sums[t] += Σ w · x` over quads `from..to`.
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
                let x = op!(_mm512_set1_epi32(x[t][q]));
                sums[t].0 = op!(_mm512_dpbusd_epi32(sums[t].0, w[q].0, x));
            }
        }
    }
}

impl<const AMX: bool> Quads<16> for Zmm<AMX> {
    type Floats = __m512;
    type Tiles = Tiles;

    const BIAS: i16 = 128;

    #[inline(always)]
    fn splat(x: i32) -> Self {
        Self(op!(_mm512_set1_epi32(x)))
    }

    #[inline(always)]
    fn lanes(numbers: &[i32; 16]) -> Self {
        Self(must_cast(*numbers))
    }

    #[inline(always)]
    fn interleave(rows: &[[u8; 16]; 16]) -> [Self; 4] {
        // Rows r, r + 4, r + 8 and r + 12 in the quarters of a register.
        let rows = array!([op!(_mm512_setzero_si512()); 4], r => {
            let row = op!(_mm512_castsi128_si512(must_cast(rows[r])));
            let row = op!(_mm512_inserti32x4::<1>(row, must_cast(rows[r + 4])));
            let row = op!(_mm512_inserti32x4::<2>(row, must_cast(rows[r + 8])));
            op!(_mm512_inserti32x4::<3>(row, must_cast(rows[r + 12])))
        });
        let a = op!(_mm512_unpacklo_epi32(rows[0], rows[1]));
        let b = op!(_mm512_unpackhi_epi32(rows[0], rows[1]));
        let c = op!(_mm512_unpacklo_epi32(rows[2], rows[3]));
        let d = op!(_mm512_unpackhi_epi32(rows[2], rows[3]));
        [
            Self(op!(_mm512_unpacklo_epi64(a, c))),
            Self(op!(_mm512_unpackhi_epi64(a, c))),
            Self(op!(_mm512_unpacklo_epi64(b, d))),
            Self(op!(_mm512_unpackhi_epi64(b, d))),
        ]
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self(op!(_mm512_and_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self(op!(_mm512_or_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(op!(_mm512_xor_si512(self.0, other.0)))
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(op!(_mm512_add_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(op!(_mm512_sub_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn sub_bytes(self, other: Self) -> Self {
        Self(op!(_mm512_sub_epi8(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(op!(_mm512_mullo_epi32(self.0, other.0)))
    }

    #[inline(always)]
    fn shl(self, bits: u32) -> Self {
        Self(op!(_mm512_sllv_epi32(self.0, _mm512_set1_epi32(bits as i32))))
    }

    #[inline(always)]
    fn shr(self, bits: u32) -> Self {
        Self(op!(_mm512_srlv_epi32(self.0, _mm512_set1_epi32(bits as i32))))
    }

    #[inline(always)]
    fn fifth_bits(self, top: Self, quad: usize) -> Self {
        // The byte that holds the four bits, four times in each lane.
        let starts = [0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c];
        let starts = Self(op!(_mm512_broadcast_i32x4(must_cast(starts))));
        let pick = Self::splat((quad as i32 / 2) * 0x0101_0101).add(starts).0;
        let spread = op!(_mm512_shuffle_epi8(top.0, pick));
        let is_set = op!(_mm512_test_epi8_mask(spread, _mm512_set1_epi32(NIBBLE_BITS[quad % 2])));
        Self(op!(_mm512_mask_add_epi8(self.0, is_set, self.0, _mm512_set1_epi8(16))))
    }

    #[inline(always)]
    fn look_up(self, table: &[i8; 16]) -> Self {
        let table = op!(_mm512_broadcast_i32x4(must_cast(*table)));
        Self(op!(_mm512_shuffle_epi8(table, self.0)))
    }

    #[inline(always)]
    fn signed(self) -> Self {
        self.xor(Self::splat(0x8080_8080_u32.cast_signed()))
    }

    #[inline(always)]
    fn dots<F: Weights, const T: usize>(w: &Group<Self>, x: &[[i32; 8]; T], sums: &mut [Self; T]) {
        Self::accumulate(w, x, 0, 8, sums);
    }

    #[inline(always)]
    fn scale(self) -> Self {
        self
    }

    #[inline(always)]
    fn scaled_dots<F: Weights, const T: usize>(
        w: &Group<Self>,
        x: &[[i32; 8]; T],
        scales: &[Self; 2],
        sums: &mut [Self; T],
    ) {
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
        Self(op!(_mm512_dpwssd_epi32(self.0, pairs.0, _mm512_set1_epi32(x))))
    }

    #[inline(always)]
    fn tiles() -> Option<Tiles> {
        if AMX { Some(Tiles::new()) } else { None }
    }

    #[inline(always)]
    fn tile_dots(
        tiles: &Tiles,
        w: &Group<Self>,
        values: Values,
        x: &[[i32; 8]; TOKENS],
        sums: &mut [Self; TOKENS],
    ) {
        let lines: &[[u8; 64]; 8] = must_cast_ref(w);
        let sums = must_cast_mut(sums);
        match values {
            Values::All => amx::dot32(tiles, lines, x, sums),
            Values::First => amx::dot16(tiles, lines.first_chunk().expect("half"), x, 0, sums),
            Values::Second => amx::dot16(tiles, lines.last_chunk().expect("half"), x, 4, sums),
        }
    }

    #[inline(always)]
    fn zeros() -> __m512 {
        op!(_mm512_setzero_ps())
    }

    #[inline(always)]
    fn floats(from: &[f32; 16]) -> __m512 {
        must_cast(*from)
    }

    #[inline(always)]
    fn store(floats: __m512, to: &mut [f32; 16]) {
        *to = must_cast(floats);
    }

    #[inline(always)]
    fn low_f16(self) -> __m512 {
        op!(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(self.0)))
    }

    #[inline(always)]
    fn link(self, d: __m512, scale: f32, chain: __m512) -> __m512 {
        let d = op!(_mm512_mul_ps(d, _mm512_set1_ps(scale)));
        op!(_mm512_fmadd_ps(_mm512_cvtepi32_ps(self.0), d, chain))
    }

    #[inline(always)]
    fn unlink(self, m: __m512, scale: f32, chain: __m512) -> __m512 {
        let m = op!(_mm512_mul_ps(m, _mm512_set1_ps(scale)));
        op!(_mm512_fnmadd_ps(_mm512_cvtepi32_ps(self.0), m, chain))
    }
}
