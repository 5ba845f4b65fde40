//! `q8_0`: 32 values `x = d * q`, q a signed byte.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 32 | `qs`, i8 |

use crate::field;
use crate::float::{inverse, nearest};
use crate::scale::peak;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 34;
const D: usize = 0;
const QS: usize = 2;
const _: () = assert!(QS + LEN == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    let qs: &[u8; LEN] = field::bytes(block, QS);
    for i in 0..LEN {
        out[i] = d * f32::from(qs[i].cast_signed());
    }
}

/// Symmetric: q runs from -127 to 127.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let id = inverse(field::put_f16(block, D, peak(values) / 127.0));
    *field::bytes_mut(block, QS) =
        values.map(|x| (nearest(x * id, -127.0, 127.0) as i8).cast_unsigned());
}
