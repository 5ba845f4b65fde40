//! Top-n-sigma: keeps the logits within n standard deviations of the largest.
//!
//! Source: Tang et al., arXiv:2411.07641. The deviation is the population's, over the candidates.

use super::{Candidate, largest, retain};
use crate::math;

/// Keeps logit >= max - n * sigma. Off (keeps all) when `n` is zero or less.
pub fn top_n_sigma(candidates: &mut [Candidate], n: f32) -> usize {
    if n <= 0.0 || candidates.len() < 2 {
        return candidates.len();
    }
    let count = candidates.len() as f64;
    let mean = candidates.iter().map(|c| f64::from(c.logit)).sum::<f64>() / count;
    let squares =
        candidates.iter().map(|c| (f64::from(c.logit) - mean) * (f64::from(c.logit) - mean));
    let sigma = math::sqrt(squares.sum::<f64>() / count);
    let floor = f64::from(largest(candidates)) - f64::from(n) * sigma;
    retain(candidates, |c| f64::from(c.logit) >= floor)
}
