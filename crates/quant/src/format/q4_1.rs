//! `q4_1`: 32 values `x = d * q + m`, q in 0..16.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 2 | `m`, f16 |
//! | 4 | 16 | `qs`: byte i holds q of value i in its low half, of value i + 16 in its high half |

use crate::float::{f16_at, inverse, put_f16};
use crate::scale::min_max;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 20;
const QS: usize = 4;
const _: () = assert!(QS + LEN / 2 == BYTES);

#[inline]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let (d, m) = (f16_at(block, 0), f16_at(block, 2));
    for i in 0..LEN / 2 {
        let byte = block[QS + i];
        out[i] = d * f32::from(byte & 15) + m;
        out[i + LEN / 2] = d * f32::from(byte >> 4) + m;
    }
}

/// The grid spans the block from its minimum to its maximum.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let (min, max) = min_max(values);
    let d = put_f16(block, 0, (max - min) / 15.0);
    let m = put_f16(block, 2, min);
    let id = inverse(d);
    let level = |x: f32| ((x - m) * id).round_ties_even().clamp(0.0, 15.0) as u8;
    for i in 0..LEN / 2 {
        block[QS + i] = level(values[i]) | (level(values[i + LEN / 2]) << 4);
    }
}
