//! `q5_k`: 256 values in 8 groups of 32, `x = (d * s) * q - (dmin * m)`, s and m in 0..64 per
//! group, q in 0..32.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 2 | `dmin`, f16 |
//! | 4 | 12 | s and m of the groups, 6 bits each: see `six_bits.rs` |
//! | 16 | 32 | `qh`: bit 4 of q of value 32 * j + i in byte i at bit j |
//! | 48 | 128 | `qs`: low 4 bits of value 64 * h + i in byte 32 * h + i % 32, low half for i < 32 |

use crate::field;
use crate::format::planes::{self, GROUP};
use crate::format::six_bits;
use crate::scale::{Affine, K_LEN};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 176;
const D: usize = 0;
const D_MIN: usize = 2;
const SCALES: usize = 4;
const QH: usize = 16;
const QS: usize = 48;
const _: () = assert!(SCALES + six_bits::BYTES == QH && QH + LEN / 8 == QS);
const _: () = assert!(QS + LEN / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let (d, d_min) = (field::f16(block, D), field::f16(block, D_MIN));
    let (scales, mins) = six_bits::unpack(field::bytes(block, SCALES));
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let (scale, min) = (d * f32::from(scales[g / 2]), d_min * f32::from(mins[g / 2]));
        let (low_at, low_shift) = planes::four_bits(g);
        let (high_at, high_shift) = planes::one_bit(g);
        let low: &[u8; GROUP] = field::bytes(block, QS + low_at);
        let high: &[u8; GROUP] = field::bytes(block, QH + high_at);
        for i in 0..GROUP {
            let q = ((low[i] >> low_shift) & 15) | (((high[i] >> high_shift) & 1) << 4);
            out[i] = scale * f32::from(q) - min;
        }
    }
}

/// Each group is fitted by itself, then its scale and minimum are rounded to 6 bits.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let fit = Affine::<8, 32>::fit(values, 31, 63);
    *block = [0; BYTES];
    field::put_f16(block, D, fit.d);
    field::put_f16(block, D_MIN, fit.d_min);
    *field::bytes_mut(block, SCALES) = six_bits::pack(&fit.scales, &fit.mins);
    for (g, q) in fit.q.as_chunks::<GROUP>().0.iter().enumerate() {
        let (low_at, low_shift) = planes::four_bits(g);
        planes::merge(field::bytes_mut(block, QS + low_at), q, 15, low_shift);
        let (high_at, high_shift) = planes::one_bit(g);
        let high = q.map(|q| q >> 4);
        planes::merge(field::bytes_mut(block, QH + high_at), &high, 1, high_shift);
    }
}
