//! `q8_k`: 256 values `x = d * q`, q a signed byte; the sums serve integer dot products and are not
//! needed to decode.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | `d`, f32 |
//! | 4 | 256 | `qs`, i8 |
//! | 260 | 32 | `sums`, i16: the sum of each 16 q |

use crate::field;
use crate::float::nearest;
use crate::format::planes::GROUP;
use crate::scale::{K_LEN, peak};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 292;
const D: usize = 0;
const QS: usize = 4;
const SUMS: usize = 260;
const _: () = assert!(QS + LEN == SUMS && SUMS + LEN / GROUP * 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = f32::from_le_bytes(*field::bytes(block, D));
    let qs: &[u8; LEN] = field::bytes(block, QS);
    for i in 0..LEN {
        out[i] = d * f32::from(qs[i].cast_signed());
    }
}

/// Symmetric: q runs from -127 to 127.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let peak = peak(values);
    let steps = if peak > 0.0 { 127.0 / peak } else { 0.0 };
    let q = values.map(|x| nearest(x * steps, -127.0, 127.0) as i8);
    *field::bytes_mut(block, D) = (peak / 127.0).to_le_bytes();
    *field::bytes_mut(block, QS) = q.map(i8::cast_unsigned);
    for (g, q) in q.as_chunks::<GROUP>().0.iter().enumerate() {
        let sum: i16 = q.iter().copied().map(i16::from).sum();
        *field::bytes_mut(block, SUMS + 2 * g) = sum.to_le_bytes();
    }
}
