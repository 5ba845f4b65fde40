//! `q6_k`: 256 values in 16 groups of 16, `x = (d * s) * (q - 32)`, s a signed byte per group,
//! q in 0..64.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 128 | `ql`: low 4 bits of q |
//! | 128 | 64 | `qh`: high 2 bits of q |
//! | 192 | 16 | `s`, i8, group by group |
//! | 208 | 2 | `d`, f16 |
//!
//! Each half of 128 values owns 64 bytes of `ql` and 32 of `qh`. Value 32 * j + i of a half has its
//! high bits in `qh[i]` at bit 2 * j, and its low bits in `ql[i]` (j = 0, 2) or `ql[32 + i]`
//! (j = 1, 3): the low half of the byte for j < 2, the high half otherwise.

use crate::float::{f16_at, inverse, put_f16};
use crate::scale::{best_symmetric, signed_peak};

pub(crate) const LEN: usize = 256;
pub(crate) const BYTES: usize = 210;
const QH: usize = 128;
const SCALES: usize = 192;
const D: usize = 208;
const GROUP: usize = 16;
const _: () = assert!(QH + LEN / 4 == SCALES && SCALES + LEN / GROUP == D && D + 2 == BYTES);

#[inline]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = f16_at(block, D);
    for half in 0..2 {
        for j in 0..4 {
            let (low, high) = (half * 64 + (j % 2) * 32, QH + half * 32);
            for i in 0..32 {
                let q = low_bits(block[low + i], j) | (((block[high + i] >> (2 * j)) & 3) << 4);
                let at = half * 128 + j * 32 + i;
                let scale = d * f32::from(block[SCALES + at / GROUP] as i8);
                out[at] = scale * (f32::from(q) - 32.0);
            }
        }
    }
}

/// The half of a `ql` byte that belongs to run `j`.
#[inline(always)]
fn low_bits(byte: u8, j: usize) -> u8 {
    if j < 2 { byte & 15 } else { byte >> 4 }
}

/// Each group gets its best symmetric scale; `d` is the largest of them over -128, so that it uses
/// the whole signed byte.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let (groups, _) = values.as_chunks::<GROUP>();
    let mut scales = [0.0; LEN / GROUP];
    for (scale, group) in scales.iter_mut().zip(groups) {
        *scale = best_symmetric(group, 32);
    }
    *block = [0; BYTES];
    let d = put_f16(block, D, signed_peak(&scales) / -128.0);
    let id = inverse(d);
    for (g, group) in groups.iter().enumerate() {
        let s = (scales[g] * id).round_ties_even().clamp(-128.0, 127.0);
        block[SCALES + g] = (s as i8).cast_unsigned();
        let inverse_scale = inverse(d * s);
        for (k, x) in group.iter().enumerate() {
            let q = (x * inverse_scale + 32.0).round_ties_even().clamp(0.0, 63.0) as u8;
            put_level(block, g * GROUP + k, q);
        }
    }
}

/// Stores the 6 bits of the value at `at`; the block starts as zeros.
fn put_level(block: &mut [u8; BYTES], at: usize, q: u8) {
    let (half, j, i) = (at / 128, at % 128 / 32, at % 32);
    block[half * 64 + (j % 2) * 32 + i] |= (q & 15) << (4 * (j / 2));
    block[QH + half * 32 + i] |= (q >> 4) << (2 * j);
}
