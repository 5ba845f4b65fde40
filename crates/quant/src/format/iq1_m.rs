//! `iq1_m`: 256 values in 16 groups of 16, `x = (d * (2 * s + 1)) * (level ± 1/8)`, s in 0..8 per
//! group, a sign per eight; eight levels of -1, 0, 1 are an entry of the book `grid::IQ1`.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 32 | `qs`: low 8 bits of the entry of values 8 * e.. in byte e |
//! | 32 | 16 | `qh`, half a byte for each eight, low first: high 3 bits of its entry, minus |
//! | 48 | 8 | `scales`, four u16: s of group 4 * k + j in word k at bit 3 * j; `d`, see below |
//!
//! The top 4 bits of word k are bits 4 * k.. of the f16 `d`.

use crate::field;
use crate::float::f16_to_f32;
use crate::format::book;
use crate::format::iq1_s::DELTA;
use crate::grid;
use crate::scale::K_LEN;

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 56;
const QS: usize = 0;
const QH: usize = 32;
const SCALES: usize = 48;
const GROUP: usize = 16;
const _: () = assert!(QS + LEN / 8 == QH && QH + LEN / 8 / 2 == SCALES && SCALES + 8 == BYTES);

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let word = |k: usize| u16::from_le_bytes(*field::bytes(block, SCALES + 2 * k));
    let d = f16_to_f32((0..4).fold(0, |bits, k| bits | word(k) >> 12 << (4 * k)));
    for (e, out) in out.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let g = e * 8 / GROUP;
        let scale = d * f32::from(2 * (word(g / 4) >> (g % 4 * 3) & 7) + 1);
        let high = book::half(&block[QH..], e);
        let delta = if high & 8 == 0 { DELTA } else { -DELTA };
        let entry = usize::from(block[QS + e]) | usize::from(high & 7) << 8;
        *out = grid::IQ1[entry].map(|level| scale * (f32::from(level) + delta));
    }
}
