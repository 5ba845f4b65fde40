//! `q8_0`: 32 values `x = d * q`, q a signed byte.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 32 | `qs`, i8 |

use crate::float::{f16_at, inverse, put_f16};
use crate::scale::peak;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 34;
const QS: usize = 2;
const _: () = assert!(QS + LEN == BYTES);

#[inline]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = f16_at(block, 0);
    for i in 0..LEN {
        out[i] = f32::from(block[QS + i] as i8) * d;
    }
}

/// Symmetric: q runs from -127 to 127.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let id = inverse(put_f16(block, 0, peak(values) / 127.0));
    for i in 0..LEN {
        let level = (values[i] * id).round_ties_even().clamp(-127.0, 127.0);
        block[QS + i] = (level as i8).cast_unsigned();
    }
}
