//! `q5_1`: 32 values `x = d * q + m`, q in 0..32.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 2 | `m`, f16 |
//! | 4 | 4 | `qh`, u32: bit i is bit 4 of q of value i |
//! | 8 | 16 | `qs`: low 4 bits of value i in the low half of byte i, of i + 16 in the high |

use crate::field;
use crate::float::{inverse, nearest};
use crate::format::five_bits;
use crate::scale::min_max;

pub(crate) const LEN: usize = 32;
pub(crate) const BYTES: usize = 24;
const D: usize = 0;
const M: usize = 2;
const QH: usize = 4;
const _: () = assert!(QH + five_bits::BYTES == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let (d, m) = (field::f16(block, D), field::f16(block, M));
    let q = five_bits::unpack(field::bytes(block, QH));
    for i in 0..LEN {
        out[i] = d * f32::from(q[i]) + m;
    }
}

/// The grid spans the block from its minimum, as stored, to its maximum.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let (min, max) = min_max(values);
    let m = field::put_f16(block, M, min);
    let id = inverse(field::put_f16(block, D, (max - m) / 31.0));
    let q = values.map(|x| nearest((x - m) * id, 0.0, 31.0) as u8);
    *field::bytes_mut(block, QH) = five_bits::pack(&q);
}
