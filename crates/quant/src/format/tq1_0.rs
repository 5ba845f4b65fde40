//! `tq1_0`: 256 values `x = d * (t - 1)`, t in 0..3, five to a byte.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 48 | `qs`: digits of values 0..240, see below |
//! | 48 | 4 | `qh`: byte i has digits of values 240 + 4 * p + i, p in 0..4 |
//! | 52 | 2 | `d`, f16 |
//!
//! Byte i < 32 of `qs` has digits of values 32 * p + i, byte 32 + i those of 160 + 16 * p + i, p in
//! 0..5. A byte is the fraction `byte / 256` whose digits in base 3 are the t, p = 0 first: after p
//! multiplications by 3 that forget what overflows, t is what the next one carries.

use crate::field;
use crate::float::{inverse, nearest};
use crate::scale::{K_LEN, peak};

pub(crate) const LEN: usize = K_LEN;
pub(crate) const BYTES: usize = 54;
const D: usize = 52;
const _: () = assert!(D + 2 == BYTES);

/// Runs of bytes: the first, how many, the first of their values, digits in each.
const RUNS: [[usize; 4]; 3] = [[0, 32, 0, 5], [32, 16, 160, 5], [48, 4, 240, 4]];

/// Powers of 3.
const POWERS: [u8; 5] = [1, 3, 9, 27, 81];

#[inline(always)]
pub(crate) fn decode(block: &[u8; BYTES], out: &mut [f32; LEN]) {
    let d = field::f16(block, D);
    for [at, count, first, digits] in RUNS {
        for p in 0..digits {
            for i in 0..count {
                let rest = block[at + i].wrapping_mul(POWERS[p]);
                let digit = (u16::from(rest) * 3) >> 8;
                out[first + count * p + i] = d * (f32::from(digit) - 1.0);
            }
        }
    }
}

/// The value of greatest magnitude is the unit. A byte is rounded up, so that what its digits leave
/// over never makes a digit smaller.
pub(crate) fn encode(values: &[f32; LEN], block: &mut [u8; BYTES]) {
    let id = inverse(field::put_f16(block, D, peak(values)));
    for [at, count, first, digits] in RUNS {
        for i in 0..count {
            let mut number = 0_u16;
            for p in 0..digits {
                let digit = nearest(values[first + count * p + i] * id, -1.0, 1.0) + 1.0;
                number += digit as u16 * u16::from(POWERS[4 - p]);
            }
            block[at + i] = (number * 256).div_ceil(243) as u8;
        }
    }
}
