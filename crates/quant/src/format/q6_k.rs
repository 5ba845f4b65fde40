//! `q6_k`: 256 values in 16 groups of 16, `x = (d * s) * (q - 32)`, s a signed byte per group, q in
//! 0..64.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 128 | `ql`: low 4 bits of value 128 * h + i in byte 64 * h + i % 64, low half for i < 64 |
//! | 128 | 64 | `qh`: high 2 bits of value 128 * h + 32 * j + i in byte 32 * h + i at bit 2 * j |
//! | 192 | 16 | `scales`, i8: s of each group |
//! | 208 | 2 | `d`, f16 |

use crate::field;
use crate::format::planes::{self, GROUP};
use crate::scale::{K_LEN, Symmetric};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 210;
const QL: usize = 0;
const QH: usize = 128;
const SCALES: usize = 192;
const D: usize = 208;
const GROUPS: usize = LEN / GROUP;
const _: () = assert!(QL + LEN / 2 == QH && QH + LEN / 4 == SCALES);
const _: () = assert!(SCALES + GROUPS == D && D + 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let scale = d * f32::from(block[SCALES + g].cast_signed());
        let (low_at, low_shift) = planes::four_bits_wide(g);
        let (high_at, high_shift) = planes::two_bits(g);
        let low: &[u8; GROUP] = field::bytes(block, QL + low_at);
        let high: &[u8; GROUP] = field::bytes(block, QH + high_at);
        for i in 0..GROUP {
            let q = ((low[i] >> low_shift) & 15) | (((high[i] >> high_shift) & 3) << 4);
            out[i] = scale * (f32::from(q) - 32.0);
        }
    }
}

/// Each group is fitted by itself, then its scale is rounded to a signed byte.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let fit = Symmetric::fit(values, 32, 128);
    *block = [0; BYTES];
    field::put_f16(block, D, fit.d);
    *field::bytes_mut(block, SCALES) = fit.scales.map(i8::cast_unsigned);
    for (g, q) in fit.q.as_chunks::<GROUP>().0.iter().enumerate() {
        let (low_at, low_shift) = planes::four_bits_wide(g);
        planes::merge(field::bytes_mut(block, QL + low_at), q, 15, low_shift);
        let (high_at, high_shift) = planes::two_bits(g);
        let high = q.map(|q| q >> 4);
        planes::merge(field::bytes_mut(block, QH + high_at), &high, 3, high_shift);
    }
}
