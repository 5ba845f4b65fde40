#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Integer dot products of a tile's weight rows with rows of quantized activations, where an
//! instruction set has a form of its own for the format.

use super::{Isa, Simd};
use crate::kernels::quant::{Q8_0Tile, Q8KTile, Q16_0Row};

/// Weight rows of a tile: those of the widest vectors.
pub(crate) const ROWS: usize = 16;

/// Rows of a tile that follow each other in memory; the next tile's run follows them, or, where all
/// runs of a tile follow each other, the next tile does.
pub(crate) const RUN: usize = 4;

/// The rows of a tile; a matrix that ends earlier repeats its last.
pub(crate) type Rows<'a> = [&'a [u8]; ROWS];

/// Chains of a tile's outputs, one item per activation row.
pub(crate) type Sums = [f32; ROWS];

/// Entries that are compiled for each instruction set: `module::name` over its vectors, with so
/// many tokens in registers.
macro_rules! entries {
    ($tile:ident, $module:ident: $($name:ident $bytes:literal),* $(,)?) => {$(
        /// Adds the rows' dot products to each item of `acc`; false where this instruction set has
        /// no such form.
        pub(crate) fn $name(
            simd: Simd,
            rows: &Rows<'_>,
            xs: &$tile<'_>,
            acc: &mut [Sums],
        ) -> bool {
            let blocks = xs.rows.first().map_or(0, |x| x.q.len());
            assert!(rows.iter().all(|row| row.len() == blocks * $bytes), "rows of {blocks} blocks");
            assert!(xs.rows.iter().all(|x| x.is_whole(blocks)), "rows of {blocks} blocks");
            assert!(xs.is_whole(blocks, acc.len()), "panels of the rows");
            #[cfg(target_arch = "x86_64")]
            {
                use crate::simd::{avx2::Ymm, avx512::Zmm, $module};

                #[target_feature(enable = "avx2,fma,f16c")]
                fn avx2(rows: &Rows<'_>, xs: &$tile<'_>, acc: &mut [Sums]) {
                    $module::$name::<Ymm<false>, 8, 4>(rows, xs, acc);
                }
                #[target_feature(enable = "avx2,fma,f16c,avxvnni")]
                fn avx_vnni(rows: &Rows<'_>, xs: &$tile<'_>, acc: &mut [Sums]) {
                    $module::$name::<Ymm<true>, 8, 4>(rows, xs, acc);
                }
                #[target_feature(
                    enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
                )]
                fn avx512(rows: &Rows<'_>, xs: &$tile<'_>, acc: &mut [Sums]) {
                    $module::$name::<Zmm<false>, 16, 8>(rows, xs, acc);
                }
                #[target_feature(
                    enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni"
                )]
                fn amx(rows: &Rows<'_>, xs: &$tile<'_>, acc: &mut [Sums]) {
                    $module::$name::<Zmm<true>, 16, 8>(rows, xs, acc);
                }
                match simd.isa() {
                    Isa::Scalar => return false,
                    // SAFETY: a `Simd` of this kind is made only where the processor has AVX2, FMA
                    // and F16C.
                    Isa::Avx2 => unsafe { avx2(rows, xs, acc) },
                    // SAFETY: a `Simd` of this kind is made only where it has AVX-VNNI, too.
                    Isa::AvxVnni => unsafe { avx_vnni(rows, xs, acc) },
                    // SAFETY: a `Simd` of this kind is made only where it has these features.
                    Isa::Avx512 => unsafe { avx512(rows, xs, acc) },
                    // SAFETY: as the last, and where it has tile registers, too.
                    Isa::Amx => unsafe { amx(rows, xs, acc) },
                }
                true
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                let _ = simd;
                false
            }
        }
    )*};
}

entries!(Q8_0Tile, block32: q4_0 18, q4_1 20, q5_0 22, q5_1 24, q8_0 34, iq4_nl 18, mxfp4 17);
entries!(
    Q8KTile, block256:
    q2_k 84, q3_k 110, q4_k 144, q5_k 176, q6_k 210, q8_k 292, iq4_xs 136,
    iq1_s 50, iq1_m 56, iq2_xxs 66, iq2_xs 74, iq2_s 82, iq3_xxs 98, iq3_s 110,
    tq1_0 54, tq2_0 66
);

/// Adds the dot products of q8_0 rows with q16_0 rows to each item of `acc`; false where this
/// instruction set has no such form.
pub(crate) fn q8_0_q16_0(
    simd: Simd,
    rows: &Rows<'_>,
    xs: &[Q16_0Row<'_>],
    acc: &mut [Sums],
) -> bool {
    let blocks = xs.first().map_or(0, |x| x.q.len());
    assert!(rows.iter().all(|row| row.len() == blocks * 34), "rows of {blocks} blocks");
    assert!(xs.iter().all(|x| x.is_whole(blocks)) && acc.len() >= xs.len(), "whole rows");
    match simd.isa() {
        Isa::Scalar => false,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 | Isa::AvxVnni | Isa::Avx512 | Isa::Amx => {
            // SAFETY: a `Simd` of these kinds is made only where the processor has AVX2, FMA and
            // F16C.
            unsafe { super::avx2::fine32::q8_0_q16_0(rows, xs, acc) };
            true
        }
        #[cfg(not(target_arch = "x86_64"))]
        Isa::Avx2 | Isa::AvxVnni | Isa::Avx512 | Isa::Amx => false,
    }
}
