//! Code books: of eight or four neighbouring weights, the formats `iq1`, `iq2` and `iq3` store the
//! index of an entry. A book is part of its formats' definition.
//!
//! [`packed`] has the books as they are written down here; the statics of this module are the same
//! numbers, one a byte.

mod iq1;
mod iq2;
mod iq3;

/// The books with 2 or 3 bits a value, value 0 lowest.
pub mod packed {
    pub use super::iq1::IQ1;
    pub use super::iq2::{IQ2_S, IQ2_XS, IQ2_XXS};
    pub use super::iq3::{IQ3_S, IQ3_XXS};
}

/// Of `iq1_s` and `iq1_m`.
pub static IQ1: [[i8; 8]; 2048] = unpack(&packed::IQ1, 2, &[-1, 0, 1]);

/// Of `iq2_xxs`.
pub static IQ2_XXS: [[i8; 8]; 256] = unpack(&packed::IQ2_XXS, 2, &IQ2_LEVELS);

/// Of `iq2_xs`.
pub static IQ2_XS: [[i8; 8]; 512] = unpack(&packed::IQ2_XS, 2, &IQ2_LEVELS);

/// Of `iq2_s`.
pub static IQ2_S: [[i8; 8]; 1024] = unpack(&packed::IQ2_S, 2, &IQ2_LEVELS);

/// Of `iq3_xxs`.
pub static IQ3_XXS: [[i8; 4]; 256] = unpack(&packed::IQ3_XXS, 3, &[4, 12, 20, 28, 36, 44, 52, 62]);

/// Of `iq3_s`.
pub static IQ3_S: [[i8; 4]; 512] = unpack(&packed::IQ3_S, 3, &[1, 3, 5, 7, 9, 11, 13, 15]);

const IQ2_LEVELS: [i8; 3] = [8, 25, 43];

/// The levels that `LEN` values of `bits` bits stand for, in each of `N` entries.
const fn unpack<const N: usize, const LEN: usize>(
    packed: &[u16; N],
    bits: usize,
    levels: &[i8],
) -> [[i8; LEN]; N] {
    let mut book = [[0; LEN]; N];
    let mut at = 0;
    while at < N * LEN {
        let level = packed[at / LEN] as usize >> (at % LEN * bits) & ((1 << bits) - 1);
        book[at / LEN][at % LEN] = levels[level];
        at += 1;
    }
    book
}

/// The signs of eight values, a set bit being a minus, of which a file has seven: the eighth makes
/// their number even.
#[inline(always)]
pub const fn signs(seven: u8) -> u8 {
    let seven = seven & 0x7f;
    seven | (seven.count_ones() as u8 & 1) << 7
}
