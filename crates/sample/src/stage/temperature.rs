//! Temperature: divides the logits; and dynamic temperature, which follows the entropy.
//!
//! Logits are shifted so that the largest becomes zero, which no softmax sees and which keeps tiny
//! temperatures from overflowing.

use super::{Candidate, largest, rank, weigh};
use crate::math;

/// logit = (logit - max) / t. With `t` zero or less keeps the first-ranked candidate alone
/// (greedy), else all.
pub fn temperature(candidates: &mut [Candidate], t: f64) -> usize {
    if t <= 0.0 {
        return greedy(candidates);
    }
    let max = f64::from(largest(candidates));
    for candidate in candidates.iter_mut() {
        candidate.logit = ((f64::from(candidate.logit) - max) / t) as f32;
    }
    candidates.len()
}

/// Temperature between t - range (not below zero) and t + range: low where the model is sure, high
/// where it is not. With entropy H over n candidates, the lower end is raised by the share
/// (H / ln n)^exponent of the way. Plain [`temperature`] when `t` or `range` is zero or less or
/// there is one candidate.
pub fn dynamic_temperature(
    candidates: &mut [Candidate],
    t: f64,
    range: f64,
    exponent: f64,
) -> usize {
    if t <= 0.0 || range <= 0.0 || candidates.len() < 2 {
        return temperature(candidates, t);
    }
    let total = weigh(candidates);
    let top = f64::from(largest(candidates)) + math::ln(total);
    let entropy =
        candidates.iter().map(|c| c.weight / total * (top - f64::from(c.logit))).sum::<f64>();
    let share = (entropy / math::ln(candidates.len() as f64)).clamp(0.0, 1.0);
    let low = (t - range).max(0.0);
    temperature(candidates, low + (t + range - low) * math::pow(share, exponent))
}

/// Moves the first-ranked candidate to the front; keeps it alone.
fn greedy(candidates: &mut [Candidate]) -> usize {
    let first = (0..candidates.len()).min_by(|&a, &b| rank(&candidates[a], &candidates[b]));
    let Some(first) = first else { return 0 };
    candidates.swap(0, first);
    1
}
