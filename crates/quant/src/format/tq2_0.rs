//! `tq2_0`: 256 values `x = d * (q - 1)`, q in 0..4, of which files use 0..3.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 64 | `qs`: q of value 128 * h + 32 * j + i in byte 32 * h + i at bit 2 * j |
//! | 64 | 2 | `d`, f16 |

use crate::field;
use crate::float::{inverse, nearest};
use crate::format::planes::{self, GROUP};
use crate::scale::{K_LEN, peak};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 66;
const QS: usize = 0;
const D: usize = 64;
const _: () = assert!(QS + LEN / 4 == D && D + 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let (at, shift) = planes::two_bits(g);
        let qs: &[u8; GROUP] = field::bytes(block, QS + at);
        *out = qs.map(|q| d * (f32::from((q >> shift) & 3) - 1.0));
    }
}

/// The value of greatest magnitude is the unit.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    *block = [0; BYTES];
    let id = inverse(field::put_f16(block, D, peak(values)));
    for (g, values) in values.as_chunks::<GROUP>().0.iter().enumerate() {
        let q = values.map(|x| (nearest(x * id, -1.0, 1.0) + 1.0) as u8);
        let (at, shift) = planes::two_bits(g);
        planes::merge(field::bytes_mut(block, QS + at), &q, 3, shift);
    }
}
