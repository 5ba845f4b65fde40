//! The stages of the chain, one file each. They act in this order: `logit_bias`, `penalties`,
//! `dry`, `top_n_sigma`, `top_k`, `typical`, `top_p`, `min_p`, `xtc`, `temperature`; `mirostat`
//! takes the place of all but the first and the last.
//!
//! The first three edit logits by token id. The others narrow or rescale a slice of candidates: a
//! narrowing stage moves what it keeps to the front, in any order, and answers how many it kept,
//! at least one of a slice that is not empty. Candidates are ranked by [`rank`], so ties go to the
//! lower id everywhere. No stage allocates, and none holds state.

pub mod dry;
pub mod logit_bias;
pub mod min_p;
pub mod mirostat;
pub mod penalties;
pub mod temperature;
pub mod top_k;
pub mod top_n_sigma;
pub mod top_p;
pub mod typical;
pub mod xtc;

use std::cmp::Ordering;

use crate::math;

/// A token that may still be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Token id.
    pub token: u32,
    /// Its logit, never NaN, as edited by the stages so far.
    pub logit: f32,
    /// e^(logit - largest logit), as of the last [`weigh`].
    pub weight: f64,
}

impl Candidate {
    /// A candidate that has not been weighed.
    pub fn new(token: u32, logit: f32) -> Candidate {
        Candidate { token, logit, weight: 0.0 }
    }
}

/// Orders candidates by falling logit, then rising id.
pub fn rank(a: &Candidate, b: &Candidate) -> Ordering {
    b.logit.partial_cmp(&a.logit).unwrap_or(Ordering::Equal).then(a.token.cmp(&b.token))
}

/// The largest logit; negative infinity of none.
pub fn largest(candidates: &[Candidate]) -> f32 {
    candidates.iter().fold(f32::NEG_INFINITY, |max, c| max.max(c.logit))
}

/// Sets the weights and answers their sum: the softmax of the slice is weight / sum.
pub fn weigh(candidates: &mut [Candidate]) -> f64 {
    let max = f64::from(largest(candidates));
    let mut total = 0.0;
    for candidate in candidates {
        candidate.weight = math::exp(f64::from(candidate.logit) - max);
        total += candidate.weight;
    }
    total
}

/// Moves the candidates that pass `keep` to the front, in their order; answers how many.
fn retain(candidates: &mut [Candidate], keep: impl Fn(&Candidate) -> bool) -> usize {
    let mut kept = 0;
    for index in 0..candidates.len() {
        if keep(&candidates[index]) {
            candidates.swap(kept, index);
            kept += 1;
        }
    }
    kept
}

/// Brings candidates to the front in `order`, one at a time, until `enough` answers true; answers
/// how many were brought, that last one included. Sorts only as far as needed: pieces of growing
/// size are selected, then sorted.
fn take_until(
    candidates: &mut [Candidate],
    order: impl Fn(&Candidate, &Candidate) -> Ordering,
    mut enough: impl FnMut(&Candidate) -> bool,
) -> usize {
    let mut done = 0;
    let mut piece = 128;
    while done < candidates.len() {
        let rest = &mut candidates[done..];
        let n = piece.min(rest.len());
        if n < rest.len() {
            rest.select_nth_unstable_by(n - 1, &order);
        }
        rest[..n].sort_unstable_by(&order);
        if let Some(last) = rest[..n].iter().position(&mut enough) {
            return done + last + 1;
        }
        done += n;
        piece *= 4;
    }
    done
}
