//! `q2_k`: 256 values in 16 groups of 16, `x = (d * s) * q - (dmin * m)`, s and m in 0..16 per
//! group, q in 0..4.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 16 | `scales`: byte g holds s of group g in its low half, m in its high half |
//! | 16 | 64 | `qs`: q of value 128 * h + 32 * j + i in byte 32 * h + i at bit 2 * j |
//! | 80 | 2 | `d`, f16 |
//! | 82 | 2 | `dmin`, f16 |

use crate::field;
use crate::format::planes::{self, GROUP};
use crate::scale::{Affine, K_LEN};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 84;
const SCALES: usize = 0;
const QS: usize = 16;
const D: usize = 80;
const D_MIN: usize = 82;
const _: () = assert!(SCALES + LEN / GROUP == QS && QS + LEN / 4 == D && D_MIN + 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let (d, d_min) = (field::f16(block, D), field::f16(block, D_MIN));
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let byte = block[SCALES + g];
        let (scale, min) = (d * f32::from(byte & 15), d_min * f32::from(byte >> 4));
        let (at, shift) = planes::two_bits(g);
        let qs: &[u8; GROUP] = field::bytes(block, QS + at);
        for i in 0..GROUP {
            out[i] = scale * f32::from((qs[i] >> shift) & 3) - min;
        }
    }
}

/// Each group is fitted by itself, then its scale and minimum are rounded to 4 bits.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let fit = Affine::<16, GROUP>::fit(values, 3, 15);
    *block = [0; BYTES];
    field::put_f16(block, D, fit.d);
    field::put_f16(block, D_MIN, fit.d_min);
    for (g, q) in fit.q.as_chunks::<GROUP>().0.iter().enumerate() {
        block[SCALES + g] = fit.scales[g] | (fit.mins[g] << 4);
        let (at, shift) = planes::two_bits(g);
        planes::merge(field::bytes_mut(block, QS + at), q, 3, shift);
    }
}
