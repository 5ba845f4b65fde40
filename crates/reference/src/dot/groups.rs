//! Formats with a float scale for each 16 values, against `q8_0` activations, whose blocks hold two
//! such groups: `acc = fma(Σ w·x, d_j · d_x, acc)` group by group.

use super::blocks::E2M1_DOUBLED;
use super::{Activations, int_dot};

const LEN: usize = 16;

/// 16 weights `d · q`.
pub(crate) struct Group {
    q: [i8; LEN],
    d: f32,
}

pub(super) fn dot(weights: &[[Group; 4]], x: &Activations) -> f32 {
    let groups = weights.as_flattened().iter().zip(x.q.as_chunks::<LEN>().0).enumerate();
    groups.fold(0.0, |acc, (j, (weight, q))| {
        (int_dot(&weight.q, q) as f32).mul_add(weight.d * x.scales[j / 2], acc)
    })
}

pub(super) fn nvfp4(block: &[u8; 36]) -> [Group; 4] {
    std::array::from_fn(|j| {
        let codes = &block[4 + 8 * j..][..8];
        let q = |k: usize| E2M1_DOUBLED[usize::from((codes[k % 8] >> (k / 8 * 4)) & 15)];
        Group { q: std::array::from_fn(q), d: half_ue4m3(block[j]) }
    })
}

/// Half of an unsigned 8-bit float: `(1 + m/8) · 2^(e − 7)`, or `m/8 · 2^−6` for e = 0. The top bit
/// is not looked at, but that code 127 alone is 0.
fn half_ue4m3(code: u8) -> f32 {
    let (e, m) = (i32::from(code >> 3 & 15), f32::from(code & 7));
    match e {
        _ if code == 127 => 0.0,
        0 => m * 2.0_f32.powi(-10),
        _ => (8.0 + m) * 2.0_f32.powi(e - 11),
    }
}
