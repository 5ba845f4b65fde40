//! Locally typical sampling: keeps the tokens whose surprise is nearest to the expected one.
//!
//! With surprise s = -ln p and entropy H = sum of p * s, candidates are taken by rising |s - H|
//! (ties by rank) until their probabilities add up to more than p.
//! Source: Meister et al., arXiv:2202.00666.

use super::{Candidate, largest, rank, take_until, weigh};
use crate::math;

/// Keeps the typical set of mass `p`. Off (keeps all) when `p` is one or more.
pub fn typical(candidates: &mut [Candidate], p: f32) -> usize {
    if p >= 1.0 || candidates.len() < 2 {
        return candidates.len();
    }
    let total = weigh(candidates);
    // From the logits, not from the weights, whose logarithm fails where they vanish.
    let top = f64::from(largest(candidates)) + math::ln(total);
    let surprise = |c: &Candidate| top - f64::from(c.logit);
    let entropy = candidates.iter().map(|c| c.weight / total * surprise(c)).sum::<f64>();
    let distance = |c: &Candidate| (surprise(c) - entropy).abs();
    let order = |a: &Candidate, b: &Candidate| distance(a).total_cmp(&distance(b)).then(rank(a, b));
    let mut mass = 0.0;
    take_until(candidates, order, |c| {
        mass += c.weight / total;
        mass > f64::from(p)
    })
}
