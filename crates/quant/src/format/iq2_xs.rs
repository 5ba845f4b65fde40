//! `iq2_xs`: 256 values in 16 groups of 16, `x = (d * (2 * s + 1) / 8) * ±level`, s in 0..16 per
//! group; eight levels are an entry of the book `grid::IQ2_XS`, of eight signs seven are stored
//! (`grid::signs`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 64 | `qs`, u16 for each eight: its entry in the low 9 bits, signs in the high 7 |
//! | 66 | 8 | `scales`: s of group g in byte g / 2, low half for even g |

use crate::field;
use crate::format::book;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 74;
const D: usize = 0;
const QS: usize = 2;
const SCALES: usize = 66;
const GROUP: usize = 16;
const _: () = assert!(QS + LEN / 8 * 2 == SCALES && SCALES + LEN / GROUP / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (e, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let word = u16::from_le_bytes(*field::bytes(block, QS + 2 * e));
        let s = book::half(&block[SCALES..], e * 8 / GROUP);
        let scale = 0.125 * (d * f32::from(2 * s + 1));
        let levels = &grid::IQ2_XS[usize::from(word & 511)];
        book::put(out, levels, grid::signs((word >> 9) as u8), scale);
    }
}
