//! Super-blocks whose weights are entries of a code book, `grid` of minfer-quant: read to integers,
//! sub-scales and one factor as the rest of the super-blocks are. Scales of a half or an eighth and
//! steps of an eighth become whole numbers, and the factor takes the fraction.

use minfer_quant::grid;

use super::f16_at;
use super::super_blocks::SuperBlock;

/// Eight times the level, plus or minus one: −9, −7, −1, 1, 7, 9.
fn iq1(entry: usize, minus: bool, k: usize) -> i8 {
    8 * grid::IQ1[entry][k % 8] + if minus { -1 } else { 1 }
}

pub(super) fn iq1_s(block: &[u8; 50]) -> SuperBlock {
    let high = |k: usize| word(block, 34 + k / 32 * 2);
    let entry = |k: usize| usize::from(block[2 + k / 8]) | (high(k) >> (k % 32 / 8 * 3) & 7) << 8;
    SuperBlock {
        q: std::array::from_fn(|k| iq1(entry(k), high(k) >> 15 == 1, k)),
        scales: std::array::from_fn(|g| odd(high(16 * g) >> 12 & 7)),
        d: f16_at(block, 0) / 8.0,
        mins: None,
    }
}

pub(super) fn iq1_m(block: &[u8; 56]) -> SuperBlock {
    let high = |k: usize| half(&block[32..48], k / 8);
    let entry = |k: usize| usize::from(block[k / 8]) | (high(k) & 7) << 8;
    let words: [usize; 4] = std::array::from_fn(|k| word(block, 48 + 2 * k));
    let d = words.iter().rev().fold(0, |bits, word| bits << 4 | word >> 12);
    SuperBlock {
        q: std::array::from_fn(|k| iq1(entry(k), high(k) & 8 != 0, k)),
        scales: std::array::from_fn(|g| odd(words[g / 4] >> (g % 4 * 3) & 7)),
        d: minfer_quant::f16_to_f32(d as u16) / 8.0,
        mins: None,
    }
}

pub(super) fn iq2_xxs(block: &[u8; 66]) -> SuperBlock {
    // Bits 7k.. of a group's second word are the signs of its eight k, the top 4 its scale.
    let second = |k: usize| word(block, 6 + k / 32 * 8) | word(block, 8 + k / 32 * 8) << 16;
    let minus = |k: usize| seven_signs(second(k) >> (k % 32 / 8 * 7), k);
    let entry = |k: usize| usize::from(block[2 + k / 32 * 8 + k % 32 / 8]);
    SuperBlock {
        q: std::array::from_fn(|k| signed(grid::IQ2_XXS[entry(k)][k % 8], minus(k))),
        scales: std::array::from_fn(|g| odd(second(16 * g) >> 28)),
        d: f16_at(block, 0) / 8.0,
        mins: None,
    }
}

pub(super) fn iq2_xs(block: &[u8; 74]) -> SuperBlock {
    let both = |k: usize| word(block, 2 + k / 8 * 2);
    let level = |k: usize| grid::IQ2_XS[both(k) % 512][k % 8];
    SuperBlock {
        q: std::array::from_fn(|k| signed(level(k), seven_signs(both(k) >> 9, k))),
        scales: std::array::from_fn(|g| odd(half(&block[66..], g))),
        d: f16_at(block, 0) / 8.0,
        mins: None,
    }
}

pub(super) fn iq2_s(block: &[u8; 82]) -> SuperBlock {
    let (low, signs, high) = (&block[2..34], &block[34..66], &block[66..74]);
    let top = |e: usize| usize::from(high[e / 4] >> (e % 4 * 2) & 3);
    let level = |k: usize| grid::IQ2_S[usize::from(low[k / 8]) + 256 * top(k / 8)][k % 8];
    SuperBlock {
        q: std::array::from_fn(|k| signed(level(k), signs[k / 8] >> (k % 8) & 1 == 1)),
        scales: std::array::from_fn(|g| odd(half(&block[74..], g))),
        d: f16_at(block, 0) / 8.0,
        mins: None,
    }
}

pub(super) fn iq3_xxs(block: &[u8; 98]) -> SuperBlock {
    let second = |k: usize| word(block, 66 + k / 32 * 4) | word(block, 68 + k / 32 * 4) << 16;
    let minus = |k: usize| seven_signs(second(k) >> (k % 32 / 8 * 7), k);
    let level = |k: usize| grid::IQ3_XXS[usize::from(block[2 + k / 4])][k % 4];
    SuperBlock {
        q: std::array::from_fn(|k| signed(level(k), minus(k))),
        scales: std::array::from_fn(|g| odd(second(16 * g) >> 28)),
        d: f16_at(block, 0) / 4.0,
        mins: None,
    }
}

pub(super) fn iq3_s(block: &[u8; 110]) -> SuperBlock {
    let (low, high, signs) = (&block[2..66], &block[66..74], &block[74..106]);
    let top = |e: usize| usize::from(high[e / 8] >> (e % 8) & 1);
    let level = |k: usize| grid::IQ3_S[usize::from(low[k / 4]) + 256 * top(k / 4)][k % 4];
    SuperBlock {
        q: std::array::from_fn(|k| signed(level(k), signs[k / 8] >> (k % 8) & 1 == 1)),
        scales: std::array::from_fn(|g| odd(half(&block[106..], g / 2))),
        d: f16_at(block, 0),
        mins: None,
    }
}

/// What a stored scale s stands for.
fn odd(s: usize) -> i32 {
    2 * s as i32 + 1
}

fn signed(level: i8, minus: bool) -> i8 {
    if minus { -level } else { level }
}

/// Whether value k of an eight has a minus, by the low 7 of `bits`: the eighth makes their number
/// even.
fn seven_signs(bits: usize, k: usize) -> bool {
    let seven = bits & 127;
    match k % 8 {
        7 => seven.count_ones() % 2 == 1,
        k => seven >> k & 1 == 1,
    }
}

/// Half byte `index`, low halves first.
fn half(bytes: &[u8], index: usize) -> usize {
    usize::from(bytes[index / 2] >> (index % 2 * 4) & 15)
}

/// The little-endian u16 at a byte offset.
fn word(block: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([block[at], block[at + 1]]))
}
