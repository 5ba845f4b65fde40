#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Integer dot products of eight weight rows with rows of quantized activations, where an
//! instruction set has a form of its own for the format.

use super::{Isa, Simd};
use crate::kernels::quant::{Q8_0Row, Q8KRow, Q16_0Row};

/// Eight weight rows; a matrix that ends earlier repeats its last.
pub(crate) type Rows8<'a> = [&'a [u8]; 8];

/// Chains of eight outputs, one item per activation row.
pub(crate) type Sums = [f32; 8];

macro_rules! entries {
    ($row:ident, $module:ident: $($name:ident $bytes:literal),* $(,)?) => {$(
        /// Adds eight dot products to each item of `acc`; false where this instruction set has no
        /// such form.
        pub(crate) fn $name(
            simd: Simd,
            rows: &Rows8<'_>,
            xs: &[$row<'_>],
            acc: &mut [Sums],
        ) -> bool {
            let blocks = xs.first().map_or(0, |x| x.q.len());
            assert!(rows.iter().all(|row| row.len() == blocks * $bytes), "rows of {blocks} blocks");
            assert!(xs.iter().all(|x| x.is_whole(blocks)) && acc.len() == xs.len(), "whole rows");
            match simd.isa() {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 | Isa::AvxVnni | Isa::Avx512 => {
                    // SAFETY: a `Simd` of this kind is made only where the processor has AVX2, FMA
                    // and F16C.
                    unsafe { super::avx2::$module::$name(rows, xs, acc) };
                    true
                }
                _ => false,
            }
        }
    )*};
}

entries!(Q8_0Row, block32: q4_0 18, q4_1 20, q5_0 22, q5_1 24, q8_0 34, iq4_nl 18, mxfp4 17);
entries!(
    Q8KRow, block256:
    q2_k 84, q3_k 110, q4_k 144, q5_k 176, q6_k 210, q8_k 292, iq4_xs 136
);
entries!(Q16_0Row, fine32: q8_0_q16_0 34);
