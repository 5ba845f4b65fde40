//! `iq4_nl`: 32 values `x = d * LEVELS[q]`, q in 0..16, on a grid that is finer around 0.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 16 | `qs`: byte i holds q of value i in its low half, of value i + 16 in its high half |

use crate::field;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 18;
const D: usize = 0;
const QS: usize = 2;
const _: () = assert!(QS + LEN / 2 == BYTES);

/// The grid, shared with `iq4_xs`; whole numbers, part of the format's definition.
pub(crate) const LEVELS: [f32; 16] = [
    -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0,
    89.0, 113.0,
];

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for i in 0..LEN / 2 {
        let byte = usize::from(block[QS + i]);
        out[i] = d * LEVELS[byte & 15];
        out[i + LEN / 2] = d * LEVELS[byte >> 4];
    }
}
