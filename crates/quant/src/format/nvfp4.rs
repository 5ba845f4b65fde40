//! `nvfp4`: 64 values in 4 groups of 16, `x = (e / 2) * LEVELS[q]`, with a scale e of the unsigned
//! 8-bit float UE4M3 per group and elements of 4 bits (E2M1).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | `e` of each group |
//! | 4 | 32 | 8 bytes a group: q of value i in the low half of byte i, of i + 8 in the high half |
//!
//! `LEVELS`, of `mxfp4`, are the E2M1 values doubled. UE4M3 has 4 bits of exponent and 3 of
//! fraction below a bit that is not looked at: code 0x7f stands for 0, 0xff for 480.

use crate::field;
use crate::format::mxfp4::LEVELS;

pub(crate) const LEN: usize = 64;
pub(crate) const BYTES: usize = 36;
const E: usize = 0;
const QS: usize = 4;
const GROUP: usize = 16;
const _: () = assert!(E + LEN / GROUP == QS && QS + LEN / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let d = half_scale(block[E + g]);
        let qs: &[u8; GROUP / 2] = field::bytes(block, QS + GROUP / 2 * g);
        for i in 0..GROUP / 2 {
            out[i] = d * LEVELS[usize::from(qs[i] & 15)];
            out[i + GROUP / 2] = d * LEVELS[usize::from(qs[i] >> 4)];
        }
    }
}

/// Half of a UE4M3 number: the bits of an `f32` whose exponent counts from 127 instead of 7, less
/// one for the half; below exponent 1 the fraction counts 2^-10 each.
#[inline(always)]
fn half_scale(e: u8) -> f32 {
    let code = e & 0x7f;
    if e == 0x7f {
        0.0
    } else if code < 8 {
        f32::from(code) / 1024.0
    } else {
        f32::from_bits((u32::from(code) << 20) + (119 << 23))
    }
}
