//! `q5_0`: 32 values `x = d * (q - 16)`, q in 0..32.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 4 | `qh`, u32: bit i is bit 4 of q of value i |
//! | 6 | 16 | `qs`: low 4 bits of value i in the low half of byte i, of i + 16 in the high |

use crate::field;
use crate::float::{inverse, nearest};
use crate::format::five_bits;
use crate::scale::signed_peak;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 22;
const D: usize = 0;
const QH: usize = 2;
const _: () = assert!(QH + five_bits::BYTES == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    let q = five_bits::unpack(field::bytes(block, QH));
    for i in 0..LEN {
        out[i] = d * (f32::from(q[i]) - 16.0);
    }
}

/// The value of greatest magnitude takes q = 0, as in `q4_0`.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let id = inverse(field::put_f16(block, D, signed_peak(values) / -16.0));
    let q = values.map(|x| nearest(x * id + 16.0, 0.0, 31.0) as u8);
    *field::bytes_mut(block, QH) = five_bits::pack(&q);
}
