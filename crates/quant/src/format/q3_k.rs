//! `q3_k`: 256 values in 16 groups of 16, `x = (d * (s - 32)) * (q - 4)`, s in 0..64 per group,
//! q in 0..8.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 32 | `hmask`: bit 2 of q of value 32 * j + i in byte i at bit j |
//! | 32 | 64 | `qs`: low 2 bits of value 128 * h + 32 * j + i in byte 32 * h + i at bit 2 * j |
//! | 96 | 12 | `scales`: s of the groups, 6 bits each, see below |
//! | 108 | 2 | `d`, f16 |
//!
//! The low 4 bits of s of group g are in byte g % 8 of `scales`, in the low half for g < 8; the
//! high 2 bits are in byte 8 + g % 4 at bit 2 * (g / 4).

use crate::field;
use crate::format::planes::{self, GROUP};
use crate::scale::{K_LEN, Symmetric};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 110;
const HMASK: usize = 0;
const QS: usize = 32;
const SCALES: usize = 96;
const D: usize = 108;
const GROUPS: usize = LEN / GROUP;
const _: () = assert!(HMASK + LEN / 8 == QS && QS + LEN / 4 == SCALES);
const _: () = assert!(SCALES + GROUPS * 6 / 8 == D && D + 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    let scales = unpack_scales(field::bytes(block, SCALES));
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let scale = d * (f32::from(scales[g]) - 32.0);
        let (low_at, low_shift) = planes::two_bits(g);
        let (high_at, high_shift) = planes::one_bit(g);
        let low: &[u8; GROUP] = field::bytes(block, QS + low_at);
        let high: &[u8; GROUP] = field::bytes(block, HMASK + high_at);
        for i in 0..GROUP {
            let q = ((low[i] >> low_shift) & 3) | (((high[i] >> high_shift) & 1) << 2);
            out[i] = scale * (f32::from(q) - 4.0);
        }
    }
}

/// Each group is fitted by itself, then its scale is rounded to 6 bits.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let fit = Symmetric::fit(values, 4, 32);
    *block = [0; BYTES];
    field::put_f16(block, D, fit.d);
    *field::bytes_mut(block, SCALES) = pack_scales(&fit.scales.map(|s| (s + 32).cast_unsigned()));
    for (g, q) in fit.q.as_chunks::<GROUP>().0.iter().enumerate() {
        let (low_at, low_shift) = planes::two_bits(g);
        planes::merge(field::bytes_mut(block, QS + low_at), q, 3, low_shift);
        let (high_at, high_shift) = planes::one_bit(g);
        let high = q.map(|q| q >> 2);
        planes::merge(field::bytes_mut(block, HMASK + high_at), &high, 1, high_shift);
    }
}

/// s of each group, in 0..64.
#[inline(always)]
fn unpack_scales(packed: &[u8; 12]) -> [u8; GROUPS] {
    let mut scales = [0; GROUPS];
    for g in 0..GROUPS {
        let low = (packed[g % 8] >> (g / 8 * 4)) & 15;
        let high = (packed[8 + g % 4] >> (g / 4 * 2)) & 3;
        scales[g] = low | (high << 4);
    }
    scales
}

/// The inverse of [`unpack_scales`].
fn pack_scales(scales: &[u8; GROUPS]) -> [u8; 12] {
    let mut packed = [0; 12];
    for g in 0..GROUPS {
        packed[g % 8] |= (scales[g] & 15) << (g / 8 * 4);
        packed[8 + g % 4] |= (scales[g] >> 4) << (g / 4 * 2);
    }
    packed
}
