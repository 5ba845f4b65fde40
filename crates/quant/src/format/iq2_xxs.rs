//! `iq2_xxs`: 256 values in 8 groups of 32, `x = (d * (2 * s + 1) / 8) * ±level`, s in 0..16 per
//! group; eight levels are an entry of the book `grid::IQ2_XXS`, of eight signs seven are stored
//! (`grid::signs`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 64 | 8 bytes a group: four entries, then a u32 with signs k at bit 7 * k, s at bit 28 |

use crate::field;
use crate::format::book;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 66;
const D: usize = 0;
const QS: usize = 2;
const GROUP: usize = 32;
const _: () = assert!(QS + LEN / GROUP * 8 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let entries: &[u8; 4] = field::bytes(block, QS + 8 * g);
        let word = u32::from_le_bytes(*field::bytes(block, QS + 8 * g + 4));
        let scale = 0.125 * (d * (2 * (word >> 28) + 1) as f32);
        for (k, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let signs = grid::signs((word >> (7 * k)) as u8);
            book::put(out, &grid::IQ2_XXS[usize::from(entries[k])], signs, scale);
        }
    }
}
