//! `iq2_s`: 256 values in 16 groups of 16, `x = (d * (2 * s + 1) / 8) * ±level`, s in 0..16 per
//! group; eight levels are an entry of the book `grid::IQ2_S`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 32 | `qs`: low 8 bits of the entry of values 8 * e.. in byte e |
//! | 34 | 32 | `signs`: minus of value 8 * e + i in byte e at bit i |
//! | 66 | 8 | `qh`: high 2 bits of entry e in byte e / 4 at bit 2 * (e % 4) |
//! | 74 | 8 | `scales`: s of group g in byte g / 2, low half for even g |

use crate::field;
use crate::format::book;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 82;
const D: usize = 0;
const QS: usize = 2;
const SIGNS: usize = 34;
const QH: usize = 66;
const SCALES: usize = 74;
const GROUP: usize = 16;
const _: () = assert!(QS + LEN / 8 == SIGNS && SIGNS + LEN / 8 == QH && QH + LEN / 32 == SCALES);
const _: () = assert!(SCALES + LEN / GROUP / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (e, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let s = book::half(&block[SCALES..], e * 8 / GROUP);
        let scale = 0.125 * (d * f32::from(2 * s + 1));
        let high = block[QH + e / 4] >> (e % 4 * 2) & 3;
        let entry = usize::from(block[QS + e]) | usize::from(high) << 8;
        book::put(out, &grid::IQ2_S[entry], block[SIGNS + e], scale);
    }
}
