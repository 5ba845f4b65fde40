#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "enters code compiled for the features that `Simd` proves")
)]
//! Blocks to f32: the definition's own loops, compiled for the instruction set.

use minfer_quant::Quant;

use super::dispatch;
use super::lanes::Lanes;

#[inline(always)]
fn decode_blocks_body<L: Lanes>(quant: Quant, bytes: &[u8], out: &mut [f32]) {
    quant.decode(bytes, out).expect("the caller passes whole blocks of matching length");
}

dispatch! {
    /// Decodes whole blocks: [`Quant::decode`].
    fn decode_blocks(quant: Quant, bytes: &[u8], out: &mut [f32]) = decode_blocks_body;
}
