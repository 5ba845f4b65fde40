//! `iq1_s`: 256 values in 8 groups of 32, `x = (d * (2 * s + 1)) * (level ± 1/8)`, s in 0..8 and a
//! sign per group; eight levels of -1, 0, 1 are an entry of the book `grid::IQ1`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | `d`, f16 |
//! | 2 | 32 | `qs`: low 8 bits of the entry of values 8 * e.. in byte e |
//! | 34 | 16 | `qh`, u16 a group: high 3 bits of entry k at bit 3 * k, s at bit 12, minus at 15 |

use crate::field;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 50;
const D: usize = 0;
const QS: usize = 2;
const QH: usize = 34;
const GROUP: usize = 32;
const _: () = assert!(QS + LEN / 8 == QH && QH + LEN / GROUP * 2 == BYTES);

/// What is added to a level, or taken from it.
pub(crate) const DELTA: f32 = 0.125;

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for (g, out) in out.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
        let high = u16::from_le_bytes(*field::bytes(block, QH + 2 * g));
        let scale = d * f32::from(2 * (high >> 12 & 7) + 1);
        let delta = if high >> 15 == 0 { DELTA } else { -DELTA };
        for (k, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let entry = u16::from(block[QS + 4 * g + k]) | (high >> (3 * k) & 7) << 8;
            let levels = &grid::IQ1[usize::from(entry)];
            *out = levels.map(|level| scale * (f32::from(level) + delta));
        }
    }
}
