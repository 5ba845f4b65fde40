//! `iq3_s`: 256 values in 8 groups of 32, `x = (d * (2 * s + 1)) * ±level`, s in 0..16 per group;
//! four levels are an entry of the book `grid::IQ3_S`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 64 | `qs`: low 8 bits of the entry of values 4 * e.. in byte e |
//! | 66 | 8 | `qh`: high bit of entry e in byte e / 8 at bit e % 8 |
//! | 74 | 32 | `signs`: minus of value 8 * b + i in byte b at bit i |
//! | 106 | 4 | `scales`: s of group g in byte g / 2, low half for even g |

use crate::field;
use crate::format::book;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 110;
const D: usize = 0;
const QS: usize = 2;
const QH: usize = 66;
const SIGNS: usize = 74;
const SCALES: usize = 106;
const GROUP: usize = 32;
const _: () = assert!(QS + LEN / 4 == QH && QH + LEN / 32 == SIGNS && SIGNS + LEN / 8 == SCALES);
const _: () = assert!(SCALES + LEN / GROUP / 2 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (e, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let s = book::half(&block[SCALES..], e * 4 / GROUP);
        let scale = d * f32::from(2 * s + 1);
        let high = block[QH + e / 8] >> (e % 8) & 1;
        let entry = usize::from(block[QS + e]) | usize::from(high) << 8;
        book::put(out, &grid::IQ3_S[entry], book::half(&block[SIGNS..], e), scale);
    }
}
