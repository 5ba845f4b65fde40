//! Min-p: keeps the tokens whose probability is at least a share of the most probable one's.
//!
//! Source: Nguyen et al., arXiv:2407.01082.

use super::{Candidate, largest, retain};
use crate::math;

/// Keeps logit >= max + ln(p), which is probability >= p * largest. Off when `p` is zero or less.
pub fn min_p(candidates: &mut [Candidate], p: f32) -> usize {
    if p <= 0.0 {
        return candidates.len();
    }
    let floor = f64::from(largest(candidates)) + math::ln(f64::from(p));
    retain(candidates, |c| f64::from(c.logit) >= floor)
}
