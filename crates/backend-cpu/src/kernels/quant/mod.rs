//! Rows of weights against rows of activations: one file per weight format.
//!
//! A file has `dot`, the format's dot product in plain code, as docs/numerics.md writes it, and
//! `dots`, the rows of a tile against many activation rows, which takes the instruction set's own
//! form where there is one. The forms share nothing but the layout's small print (tables, packed
//! scales; with a code book, how a block is read), so that one checks the other.

pub(crate) mod bf16;
mod decode;
pub(crate) mod f16;
pub(crate) mod f32;
pub(crate) mod iq1_m;
pub(crate) mod iq1_s;
pub(crate) mod iq2_s;
pub(crate) mod iq2_xs;
pub(crate) mod iq2_xxs;
pub(crate) mod iq3_s;
pub(crate) mod iq3_xxs;
pub(crate) mod iq4_nl;
pub(crate) mod iq4_xs;
pub(crate) mod mxfp4;
pub(crate) mod nvfp4;
pub(crate) mod q2_k;
pub(crate) mod q3_k;
pub(crate) mod q4_0;
pub(crate) mod q4_1;
pub(crate) mod q4_k;
pub(crate) mod q5_0;
pub(crate) mod q5_1;
pub(crate) mod q5_k;
pub(crate) mod q6_k;
pub(crate) mod q8_0;
pub(crate) mod q8_k;
mod rows;
mod tile;
pub(crate) mod tq1_0;
pub(crate) mod tq2_0;

use minfer_quant::Quant;

use crate::simd::{Rows, Simd, Sums};
pub(crate) use decode::decode;
#[cfg(target_arch = "x86_64")]
pub(crate) use rows::SuperBlock;
pub(crate) use rows::{Q8_0Row, Q8KRow, Q16_0Row};
#[cfg(target_arch = "x86_64")]
pub(crate) use tile::{Panel32, Panel256};
pub(crate) use tile::{Q8_0Tile, Q8KTile, TOKENS, bytes as panel_bytes, places};

/// Adds the dot products of a tile's rows with each of `xs` to `acc`. Formats with other operands
/// add nothing: lowering has refused them.
pub(crate) fn dots_q8_0(
    simd: Simd,
    quant: Quant,
    rows: &Rows<'_>,
    xs: &Q8_0Tile<'_>,
    acc: &mut [Sums],
) {
    match quant {
        Quant::Q4_0 => q4_0::dots(simd, rows, xs, acc),
        Quant::Q4_1 => q4_1::dots(simd, rows, xs, acc),
        Quant::Q5_0 => q5_0::dots(simd, rows, xs, acc),
        Quant::Q5_1 => q5_1::dots(simd, rows, xs, acc),
        Quant::Q8_0 => q8_0::dots(simd, rows, xs, acc),
        Quant::IQ4_NL => iq4_nl::dots(simd, rows, xs, acc),
        Quant::MXFP4 => mxfp4::dots(simd, rows, xs, acc),
        Quant::NVFP4 => nvfp4::dots(simd, rows, xs, acc),
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q4_K
        | Quant::Q5_K
        | Quant::Q6_K
        | Quant::Q8_K
        | Quant::IQ1_S
        | Quant::IQ1_M
        | Quant::IQ2_XXS
        | Quant::IQ2_XS
        | Quant::IQ2_S
        | Quant::IQ3_XXS
        | Quant::IQ3_S
        | Quant::IQ4_XS
        | Quant::TQ1_0
        | Quant::TQ2_0 => debug_assert!(false, "{} takes no q8_0 rows", quant.name()),
    }
}

/// The same for super-blocks.
pub(crate) fn dots_q8_k(
    simd: Simd,
    quant: Quant,
    rows: &Rows<'_>,
    xs: &Q8KTile<'_>,
    acc: &mut [Sums],
) {
    match quant {
        Quant::Q2_K => q2_k::dots(simd, rows, xs, acc),
        Quant::Q3_K => q3_k::dots(simd, rows, xs, acc),
        Quant::Q4_K => q4_k::dots(simd, rows, xs, acc),
        Quant::Q5_K => q5_k::dots(simd, rows, xs, acc),
        Quant::Q6_K => q6_k::dots(simd, rows, xs, acc),
        Quant::Q8_K => q8_k::dots(simd, rows, xs, acc),
        Quant::IQ1_S => iq1_s::dots(simd, rows, xs, acc),
        Quant::IQ1_M => iq1_m::dots(simd, rows, xs, acc),
        Quant::IQ2_XXS => iq2_xxs::dots(simd, rows, xs, acc),
        Quant::IQ2_XS => iq2_xs::dots(simd, rows, xs, acc),
        Quant::IQ2_S => iq2_s::dots(simd, rows, xs, acc),
        Quant::IQ3_XXS => iq3_xxs::dots(simd, rows, xs, acc),
        Quant::IQ3_S => iq3_s::dots(simd, rows, xs, acc),
        Quant::IQ4_XS => iq4_xs::dots(simd, rows, xs, acc),
        Quant::TQ1_0 => tq1_0::dots(simd, rows, xs, acc),
        Quant::TQ2_0 => tq2_0::dots(simd, rows, xs, acc),
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::IQ4_NL
        | Quant::MXFP4
        | Quant::NVFP4 => debug_assert!(false, "{} takes no q8_k rows", quant.name()),
    }
}

#[cfg(test)]
mod tests;
