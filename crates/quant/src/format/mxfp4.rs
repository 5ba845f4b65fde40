//! `mxfp4`: 32 values `x = 2^(e - 128) * LEVELS[q]`, the MXFP4 type of the OCP Microscaling
//! Formats specification 1.0: a power-of-two scale (E8M0) and elements of 4 bits (E2M1).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | `e`, u8 |
//! | 1 | 16 | `qs`: byte i holds q of value i in its low half, of value i + 16 in its high half |
//!
//! `LEVELS` are the E2M1 values doubled, so that they are whole; the scale is halved in return. The
//! specification reads e = 255 as NaN; GGUF files give it no special meaning, and here, as in the
//! `gguf` package, it is 2^127.

use crate::field;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 17;
const E: usize = 0;
const QS: usize = 1;
const _: () = assert!(QS + LEN / 2 == BYTES);

/// Shared with `nvfp4`. The codes 8..16 mirror 0..8; code 8 (minus zero) is read as plus zero.
pub(crate) const LEVELS: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 0.0, -1.0, -2.0, -3.0, -4.0, -6.0, -8.0, -12.0];

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = half_scale(block[E]);
    let qs: &[u8; LEN / 2] = field::bytes(block, QS);
    for i in 0..LEN / 2 {
        out[i] = d * LEVELS[usize::from(qs[i] & 15)];
        out[i + LEN / 2] = d * LEVELS[usize::from(qs[i] >> 4)];
    }
}

/// 2^(e - 128); the two smallest are subnormal in `f32`.
#[inline(always)]
fn half_scale(e: u8) -> f32 {
    let e = u32::from(e);
    f32::from_bits(if e < 2 { 0x0020_0000 << e } else { (e - 1) << 23 })
}
