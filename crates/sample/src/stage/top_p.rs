//! Top-p, or nucleus sampling: keeps the most probable tokens that together have probability p.
//!
//! Source: Holtzman et al., arXiv:1904.09751.

use super::{Candidate, rank, take_until, weigh};

/// Keeps the shortest run of first-ranked candidates whose mass is at least `p` (one candidate
/// when `p` is zero). Off (keeps all) when `p` is one or more.
pub fn top_p(candidates: &mut [Candidate], p: f32) -> usize {
    if p >= 1.0 || candidates.len() < 2 {
        return candidates.len();
    }
    let wanted = weigh(candidates) * f64::from(p);
    let mut mass = 0.0;
    take_until(candidates, rank, |c| {
        mass += c.weight;
        mass >= wanted
    })
}
