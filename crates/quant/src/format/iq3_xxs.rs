//! `iq3_xxs`: 256 values in 8 groups of 32, `x = (d * (2 * s + 1) / 4) * ±level`, s in 0..16 per
//! group; four levels are an entry of the book `grid::IQ3_XXS`, of eight signs seven are stored
//! (`grid::signs`).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 64 | `qs`: entry of values 4 * e.. in byte e |
//! | 66 | 32 | a u32 for each group: signs of its eight k at bit 7 * k, s at bit 28 |

use crate::field;
use crate::format::book;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 98;
const D: usize = 0;
const QS: usize = 2;
const SIGNS: usize = 66;
const GROUP: usize = 32;
const _: () = assert!(QS + LEN / 4 == SIGNS && SIGNS + LEN / GROUP * 4 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let word = u32::from_le_bytes(*field::bytes(block, SIGNS + 4 * g));
        let scale = 0.25 * (d * (2 * (word >> 28) + 1) as f32);
        for (e, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let levels = &grid::IQ3_XXS[usize::from(block[QS + GROUP / 4 * g + e])];
            let signs = grid::signs((word >> (e / 2 * 7)) as u8);
            book::put(out, levels, signs >> (e % 2 * 4), scale);
        }
    }
}
