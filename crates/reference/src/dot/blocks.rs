//! Formats of 32 values a block, against `q8_0` activations (q8_0 weights also `q16_0`): `acc =
//! fma(Σ w·x, d_w · d_x, acc)`, and for those with a minimum `acc = fma(Σ x, m_w · d_x, acc)` after
//! it.

use super::{Activations, IQ4_LEVELS, f16_at, int_dot};

const LEN: usize = 32;

/// The E2M1 values doubled: an MXFP4 or NVFP4 value is one of them times half its scale.
pub(super) const E2M1_DOUBLED: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// 32 weights `d · q + m`.
pub(crate) struct Block {
    q: [i8; LEN],
    d: f32,
    m: Option<f32>,
}

pub(super) fn dot(weights: &[Block], x: &Activations) -> f32 {
    let mut acc = 0.0_f32;
    let blocks = x.q.as_chunks::<LEN>().0.iter().zip(&x.scales);
    for (b, (weight, (q, &scale))) in weights.iter().zip(blocks).enumerate() {
        acc = (int_dot(&weight.q, q) as f32).mul_add(weight.d * scale, acc);
        if let Some(m) = weight.m {
            acc = (x.sums[b] as f32).mul_add(m * scale, acc);
        }
    }
    acc
}

pub(super) fn q4_0(block: &[u8; 18]) -> Block {
    let q = nibbles(&block[2..]).map(|q| q as i8 - 8);
    Block { q, d: f16_at(block, 0), m: None }
}

pub(super) fn q4_1(block: &[u8; 20]) -> Block {
    let q = nibbles(&block[4..]).map(|q| q as i8);
    Block { q, d: f16_at(block, 0), m: Some(f16_at(block, 2)) }
}

pub(super) fn q5_0(block: &[u8; 22]) -> Block {
    let q = five_bits(&block[2..6], &block[6..]).map(|q| q as i8 - 16);
    Block { q, d: f16_at(block, 0), m: None }
}

pub(super) fn q5_1(block: &[u8; 24]) -> Block {
    let q = five_bits(&block[4..8], &block[8..]).map(|q| q as i8);
    Block { q, d: f16_at(block, 0), m: Some(f16_at(block, 2)) }
}

pub(super) fn q8_0(block: &[u8; 34]) -> Block {
    let q = std::array::from_fn(|k| block[2 + k].cast_signed());
    Block { q, d: f16_at(block, 0), m: None }
}

pub(super) fn iq4_nl(block: &[u8; 18]) -> Block {
    let q = nibbles(&block[2..]).map(|q| IQ4_LEVELS[usize::from(q)]);
    Block { q, d: f16_at(block, 0), m: None }
}

pub(super) fn mxfp4(block: &[u8; 17]) -> Block {
    let q = nibbles(&block[1..]).map(|q| E2M1_DOUBLED[usize::from(q)]);
    // 2^(e − 128): from −127 down the f32 is subnormal, a single bit of its fraction.
    let e = u32::from(block[0]);
    let d = f32::from_bits(if e < 2 { 1 << (21 + e) } else { (e - 1) << 23 });
    Block { q, d, m: None }
}

/// Values i in the low and i + 16 in the high halves of 16 bytes.
fn nibbles(bytes: &[u8]) -> [u8; LEN] {
    std::array::from_fn(|k| (bytes[k % 16] >> (k / 16 * 4)) & 15)
}

/// Nibbles and, as fifth bit, bit k of a little-endian u32.
fn five_bits(high: &[u8], low: &[u8]) -> [u8; LEN] {
    let low = nibbles(low);
    std::array::from_fn(|k| low[k] | (((high[k / 8] >> (k % 8)) & 1) << 4))
}
