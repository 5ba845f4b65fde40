//! `q4_1`: 32 values `x = d * q + m`, q in 0..16.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 2 | `m`, f16 |
//! | 4 | 16 | `qs`: byte i holds q of value i in its low half, of value i + 16 in its high half |

use crate::field;
use crate::float::{inverse, nearest};
use crate::scale::min_max;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 20;
const D: usize = 0;
const M: usize = 2;
const QS: usize = 4;
const _: () = assert!(QS + LEN / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let (d, m) = (field::f16(block, D), field::f16(block, M));
    for i in 0..LEN / 2 {
        let byte = block[QS + i];
        out[i] = d * f32::from(byte & 15) + m;
        out[i + LEN / 2] = d * f32::from(byte >> 4) + m;
    }
}

/// The grid spans the block from its minimum, as stored, to its maximum.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let (min, max) = min_max(values);
    let m = field::put_f16(block, M, min);
    let id = inverse(field::put_f16(block, D, (max - m) / 15.0));
    let level = |x: f32| nearest((x - m) * id, 0.0, 15.0) as u8;
    for i in 0..LEN / 2 {
        block[QS + i] = level(values[i]) | (level(values[i + LEN / 2]) << 4);
    }
}
