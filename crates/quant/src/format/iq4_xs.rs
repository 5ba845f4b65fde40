//! `iq4_xs`: 256 values in 8 groups of 32, `x = (d * (s - 32)) * LEVELS[q]`, s in 0..64 per group,
//! q in 0..16, with the grid of `iq4_nl`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 2 | `scales_h`, u16: high 2 bits of s of group g at bit 2 * g |
//! | 4 | 4 | `scales_l`: low 4 bits of s of group g in byte g / 2, low half for even g |
//! | 8 | 128 | `qs`: q of value 32 * g + i in byte 16 * g + i % 16, low half for i < 16 |

use crate::field;
use crate::format::iq4_nl::LEVELS;

pub(crate) const LEN: usize = 256;
pub(crate) const BYTES: usize = 136;
const D: usize = 0;
const SCALES_H: usize = 2;
const SCALES_L: usize = 4;
const QS: usize = 8;
const GROUP: usize = 32;
const _: () = assert!(SCALES_L + LEN / GROUP / 2 == QS && QS + LEN / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    let high = u16::from_le_bytes(*field::bytes(block, SCALES_H));
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let low = (block[SCALES_L + g / 2] >> (g % 2 * 4)) & 15;
        let s = u16::from(low) | (((high >> (2 * g)) & 3) << 4);
        let scale = d * (f32::from(s) - 32.0);
        let qs: &[u8; GROUP / 2] = field::bytes(block, QS + g * GROUP / 2);
        for i in 0..GROUP / 2 {
            out[i] = scale * LEVELS[usize::from(qs[i] & 15)];
            out[i + GROUP / 2] = scale * LEVELS[usize::from(qs[i] >> 4)];
        }
    }
}
