//! Rows of weights against rows of activations: one file per weight format.
//!
//! A file has `dot`, the format's dot product in plain code, as docs/numerics.md writes it, and
//! `dots`, the rows of a tile against many activation rows, which takes the instruction set's own
//! form where there is one. The forms share nothing but the layout's small print (tables, packed
//! scales), so that one checks the other.

pub(crate) mod bf16;
pub(crate) mod f16;
pub(crate) mod f32;
pub(crate) mod iq4_nl;
pub(crate) mod iq4_xs;
pub(crate) mod mxfp4;
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

use minfer_quant::Quant;

use crate::simd::{Rows, Simd, Sums, decode_blocks};
pub(crate) use rows::{Q8_0Row, Q8KRow, Q16_0Row};
pub(crate) use tile::{Panel32, Panel256, Q8_0Tile, Q8KTile, TOKENS, bytes as panel_bytes};

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
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q4_K
        | Quant::Q5_K
        | Quant::Q6_K
        | Quant::Q8_K
        | Quant::IQ4_XS => debug_assert!(false, "{} takes no q8_0 rows", quant.name()),
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
        Quant::IQ4_XS => iq4_xs::dots(simd, rows, xs, acc),
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::IQ4_NL
        | Quant::MXFP4 => debug_assert!(false, "{} takes no q8_k rows", quant.name()),
    }
}

/// Decodes whole blocks to f32: the bits of [`Quant::decode`].
pub(crate) fn decode(simd: Simd, quant: Quant, bytes: &[u8], out: &mut [f32]) {
    // Plain values are read as they lie, which is little-endian.
    let plain = cfg!(target_endian = "little");
    let done = match quant {
        Quant::F32 => plain && f32::decode(bytes, out),
        Quant::F16 => plain && f16::decode(simd, bytes, out),
        Quant::BF16 => plain && bf16::decode(simd, bytes, out),
        Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::IQ4_NL
        | Quant::MXFP4
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q4_K
        | Quant::Q5_K
        | Quant::Q6_K
        | Quant::Q8_K
        | Quant::IQ4_XS => false,
    };
    if !done {
        decode_blocks(simd, quant, bytes, out);
    }
}

#[cfg(test)]
mod tests;
