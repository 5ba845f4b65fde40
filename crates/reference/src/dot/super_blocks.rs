//! Formats of 256 values a super-block, against `q8_k` activations: `acc = fma(Σ_j s_j Σ w·x, d_w ·
//! d_x, acc)`, and for those with minima `acc = fma(Σ_j m_j Σ x, −(dmin_w · d_x), acc)` after it.
//! All are unpacked to groups of 16, the grain of the activations' sums; a sub-scale of 32 values
//! stands twice.

use super::{Activations, IQ4_LEVELS, f16_at, int_dot};

const LEN: usize = 256;
const GROUP: usize = 16;
const GROUPS: usize = LEN / GROUP;

/// 256 weights `(d · scale_j) · q − (dmin · min_j)`.
pub(crate) struct SuperBlock {
    pub(super) q: [i8; LEN],
    pub(super) scales: [i32; GROUPS],
    pub(super) d: f32,
    pub(super) mins: Option<Mins>,
}

pub(super) struct Mins {
    mins: [i32; GROUPS],
    dmin: f32,
}

pub(super) fn dot(weights: &[SuperBlock], x: &Activations) -> f32 {
    let mut acc = 0.0_f32;
    let sums = x.sums.chunks_exact(GROUPS);
    let blocks = x.q.as_chunks::<LEN>().0.iter().zip(x.scales.iter().zip(sums));
    for (weight, (q, (&scale, sums))) in weights.iter().zip(blocks) {
        let groups = weight.q.as_chunks::<GROUP>().0.iter().zip(q.as_chunks::<GROUP>().0);
        let scaled = groups.zip(&weight.scales).map(|((w, x), s)| s * int_dot(w, x));
        acc = (scaled.sum::<i32>() as f32).mul_add(weight.d * scale, acc);
        if let Some(Mins { mins, dmin }) = &weight.mins {
            let below: i32 = mins.iter().zip(sums).map(|(m, sum)| m * sum).sum();
            acc = (below as f32).mul_add(-(dmin * scale), acc);
        }
    }
    acc
}

pub(super) fn q2_k(block: &[u8; 84]) -> SuperBlock {
    SuperBlock {
        q: std::array::from_fn(|k| two_bits(&block[16..80], k) as i8),
        scales: std::array::from_fn(|g| i32::from(block[g] & 15)),
        d: f16_at(block, 80),
        mins: Some(Mins {
            mins: std::array::from_fn(|g| i32::from(block[g] >> 4)),
            dmin: f16_at(block, 82),
        }),
    }
}

pub(super) fn q3_k(block: &[u8; 110]) -> SuperBlock {
    let (high, low, packed) = (&block[..32], &block[32..96], &block[96..108]);
    let level = |k| (two_bits(low, k) | (one_bit(high, k) << 2)) as i8 - 4;
    // 6 bits a group: 4 in the halves of bytes 0..8, 2 in bytes 8..12.
    let scale = |g: usize| {
        let low = (packed[g % 8] >> (g / 8 * 4)) & 15;
        let high = (packed[8 + g % 4] >> (g / 4 * 2)) & 3;
        i32::from(low | (high << 4)) - 32
    };
    SuperBlock {
        q: std::array::from_fn(level),
        scales: std::array::from_fn(scale),
        d: f16_at(block, 108),
        mins: None,
    }
}

pub(super) fn q4_k(block: &[u8; 144]) -> SuperBlock {
    let (scales, mins) = six_bits(&block[4..16]);
    SuperBlock {
        q: std::array::from_fn(|k| halves_of_32(&block[16..], k) as i8),
        scales,
        d: f16_at(block, 0),
        mins: Some(Mins { mins, dmin: f16_at(block, 2) }),
    }
}

pub(super) fn q5_k(block: &[u8; 176]) -> SuperBlock {
    let (scales, mins) = six_bits(&block[4..16]);
    let (high, low) = (&block[16..48], &block[48..]);
    SuperBlock {
        q: std::array::from_fn(|k| (halves_of_32(low, k) | (one_bit(high, k) << 4)) as i8),
        scales,
        d: f16_at(block, 0),
        mins: Some(Mins { mins, dmin: f16_at(block, 2) }),
    }
}

pub(super) fn q6_k(block: &[u8; 210]) -> SuperBlock {
    let (low, high) = (&block[..128], &block[128..192]);
    // A run of 64 bytes holds 128 values, the first 64 in the low halves.
    let four = |k: usize| (low[k / 128 * 64 + k % 64] >> (k % 128 / 64 * 4)) & 15;
    SuperBlock {
        q: std::array::from_fn(|k| (four(k) | (two_bits(high, k) << 4)) as i8 - 32),
        scales: std::array::from_fn(|g| i32::from(block[192 + g].cast_signed())),
        d: f16_at(block, 208),
        mins: None,
    }
}

pub(super) fn q8_k(block: &[u8; 292]) -> SuperBlock {
    SuperBlock {
        q: std::array::from_fn(|k| block[4 + k].cast_signed()),
        scales: [1; GROUPS],
        d: f32::from_le_bytes([block[0], block[1], block[2], block[3]]),
        mins: None,
    }
}

pub(super) fn iq4_xs(block: &[u8; 136]) -> SuperBlock {
    let high = u16::from_le_bytes([block[2], block[3]]);
    let scale = |g: usize| {
        let low = (block[4 + g / 2] >> (g % 2 * 4)) & 15;
        i32::from(low) + i32::from((high >> (2 * g)) & 3) * 16 - 32
    };
    // 16 bytes a group of 32, the first 16 values in the low halves.
    let level = |k: usize| (block[8 + k / 32 * 16 + k % 16] >> (k % 32 / 16 * 4)) & 15;
    SuperBlock {
        q: std::array::from_fn(|k| IQ4_LEVELS[usize::from(level(k))]),
        scales: std::array::from_fn(|g| scale(g / 2)),
        d: f16_at(block, 0),
        mins: None,
    }
}

pub(super) fn tq1_0(block: &[u8; 54]) -> SuperBlock {
    // Digit p of a byte, the fraction byte / 256 in base 3.
    let digit = |byte: u8, p: usize| {
        let rest = u32::from(byte) * 3_u32.pow(p as u32) % 256;
        (rest * 3 / 256) as i8
    };
    let level = |k: usize| match k {
        0..160 => digit(block[k % 32], k / 32),
        160..240 => digit(block[32 + k % 16], (k - 160) / 16),
        _ => digit(block[48 + k % 4], (k - 240) / 4),
    };
    SuperBlock {
        q: std::array::from_fn(|k| level(k) - 1),
        scales: [1; GROUPS],
        d: f16_at(block, 52),
        mins: None,
    }
}

pub(super) fn tq2_0(block: &[u8; 66]) -> SuperBlock {
    SuperBlock {
        q: std::array::from_fn(|k| two_bits(&block[..64], k) as i8 - 1),
        scales: [1; GROUPS],
        d: f16_at(block, 64),
        mins: None,
    }
}

/// Value 128h + 32j + i in byte 32h + i at bit 2j.
fn two_bits(bytes: &[u8], k: usize) -> u8 {
    (bytes[k / 128 * 32 + k % 32] >> (k % 128 / 32 * 2)) & 3
}

/// Value 32j + i in byte i at bit j.
fn one_bit(bytes: &[u8], k: usize) -> u8 {
    (bytes[k % 32] >> (k / 32)) & 1
}

/// Value 64h + i in byte 32h + i % 32, in the low half for i < 32.
fn halves_of_32(bytes: &[u8], k: usize) -> u8 {
    (bytes[k / 64 * 32 + k % 32] >> (k % 64 / 32 * 4)) & 15
}

/// Eight scales and eight minima of 6 bits: those of groups 0..4 whole in bytes 0..4 and 4..8,
/// whose top bits complete the halves of bytes 8..12 to those of groups 4..8.
fn six_bits(packed: &[u8]) -> ([i32; GROUPS], [i32; GROUPS]) {
    let scale = |j: usize| match j {
        0..4 => packed[j] & 63,
        _ => (packed[4 + j] & 15) | (packed[j - 4] >> 6 << 4),
    };
    let min = |j: usize| match j {
        0..4 => packed[4 + j] & 63,
        _ => (packed[4 + j] >> 4) | (packed[j] >> 6 << 4),
    };
    (
        std::array::from_fn(|g| i32::from(scale(g / 2))),
        std::array::from_fn(|g| i32::from(min(g / 2))),
    )
}
