//! Weights to f32, for products with float activations and for rows that are looked up.

use minfer_quant::Quant;

use super::{bf16, f16, f32};
use crate::simd::{Simd, decode_blocks};

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
        | Quant::NVFP4
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
        | Quant::TQ2_0 => false,
    };
    if !done {
        decode_blocks(simd, quant, bytes, out);
    }
}
