//! `q4_0`: 32 values `x = d * (q - 8)`, q in 0..16.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 16 | `qs`: byte i holds q of value i in its low half, of value i + 16 in its high half |

use crate::field;
use crate::float::{inverse, nearest};
use crate::scale::signed_peak;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 18;
const D: usize = 0;
const QS: usize = 2;
const _: () = assert!(QS + LEN / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for i in 0..LEN / 2 {
        let byte = block[QS + i];
        out[i] = d * (f32::from(byte & 15) - 8.0);
        out[i + LEN / 2] = d * (f32::from(byte >> 4) - 8.0);
    }
}

/// The value of greatest magnitude takes q = 0, the level without a mirror image: `d` gets the
/// opposite sign, and the grid is one step finer than a symmetric one.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let id = inverse(field::put_f16(block, D, signed_peak(values) / -8.0));
    let level = |x: f32| nearest(x * id + 8.0, 0.0, 15.0) as u8;
    for i in 0..LEN / 2 {
        block[QS + i] = level(values[i]) | (level(values[i + LEN / 2]) << 4);
    }
}
