//! Mirostat: narrows the candidates so that the surprise of the text stays near a target.
//!
//! `mu` is the largest surprise accepted, in bits; it starts at 2 * tau, and after each token of
//! surprise s moves by -eta * (s - tau). Source: Basu et al., arXiv:2007.14966.

use super::{Candidate, rank, take_until, top_k, weigh};
use crate::math;

/// How many first-ranked candidates version 1 estimates the exponent from.
const ESTIMATED_OVER: usize = 100;

/// Version 1: estimates the exponent s of a Zipf law over the first candidates, and keeps as many
/// as that law needs for a mean surprise of `mu` over `vocab_size` tokens.
pub fn mirostat_1(candidates: &mut [Candidate], mu: f64, vocab_size: usize) -> usize {
    let mut seen = 0;
    let sorted = take_until(candidates, rank, |_| {
        seen += 1;
        seen == ESTIMATED_OVER
    });
    let mut products = 0.0;
    let mut squares = 0.0;
    for (index, pair) in candidates[..sorted].windows(2).enumerate() {
        let t = math::ln((index + 2) as f64 / (index + 1) as f64);
        // ln(p[i] / p[i + 1]); the softmax's normalization cancels out.
        let b = f64::from(pair[0].logit) - f64::from(pair[1].logit);
        products += t * b;
        squares += t * t;
    }
    if squares == 0.0 {
        return candidates.len();
    }
    let k = zipf_cut(products / squares, mu, vocab_size as f64);
    top_k::top_k(candidates, k.clamp(1.0, candidates.len() as f64) as usize)
}

/// k = (e * 2^mu / (1 - n^-e))^(1 / s) with e = s - 1; at e = 0 the fraction's limit is 1 / ln n.
fn zipf_cut(s: f64, mu: f64, n: f64) -> f64 {
    let e = s - 1.0;
    let fraction = if e.abs() < 1e-9 { 1.0 / math::ln(n) } else { e / (1.0 - math::pow(n, -e)) };
    let k = math::pow(fraction * math::pow(2.0, mu), 1.0 / s);
    if k.is_nan() { f64::INFINITY } else { k }
}

/// Version 2: keeps the candidates of surprise <= `mu`, and the first-ranked one in any case.
pub fn mirostat_2(candidates: &mut [Candidate], mu: f64) -> usize {
    let total = weigh(candidates);
    let floor = total * math::pow(2.0, -mu);
    let kept = super::retain(candidates, |c| c.weight >= floor);
    if kept > 0 { kept } else { super::temperature::temperature(candidates, 0.0) }
}

/// `mu` after a token of probability `p` was chosen.
pub fn update(mu: f64, p: f64, tau: f64, eta: f64) -> f64 {
    let surprise = -math::ln(p) / std::f64::consts::LN_2;
    mu - eta * (surprise - tau)
}
