//! Log-probabilities of the raw distribution: softmax of the model's logits, before any stage.

use crate::stage::{Candidate, rank};
use crate::{Error, math};

/// The normalization of one row of logits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Raw {
    /// The largest logit.
    pub max: f32,
    /// ln of the sum of e^(logit - max).
    ln_total: f64,
}

impl Raw {
    /// Checks that every logit is finite and sums the row. Empty rows are the caller's fault.
    pub fn of(logits: &[f32]) -> Result<Raw, Error> {
        check_finite(logits)?;
        let max = logits.iter().copied().fold(f32::MIN, f32::max);
        let total = math::sum_exp(logits, max);
        Ok(Raw { max, ln_total: math::ln(total) })
    }

    /// ln p of a token with this logit.
    pub fn logprob(self, logit: f32) -> f32 {
        (f64::from(logit) - f64::from(self.max) - self.ln_total) as f32
    }
}

/// [`Error::NumericFault`] at the first NaN or infinity.
pub(crate) fn check_finite(logits: &[f32]) -> Result<(), Error> {
    // Only an all-ones exponent field is not finite; a fold without early exit vectorizes.
    const EXPONENT: u32 = 0x7F80_0000;
    let faulty = logits.iter().fold(false, |any, l| any | (l.to_bits() & EXPONENT == EXPONENT));
    if !faulty {
        return Ok(());
    }
    let fault = logits.iter().enumerate().find(|(_, l)| !l.is_finite());
    fault.map_or(Ok(()), |(index, &value)| Err(Error::NumericFault { index, value }))
}

/// The `k` most probable tokens of the raw distribution with their natural log-probabilities, most
/// probable first, ties by lower id. Fewer when the vocabulary is smaller; log-sum-exp in f64.
pub fn top_logprobs(logits: &[f32], k: usize) -> Result<Vec<(u32, f32)>, Error> {
    let raw = Raw::of(logits)?;
    let mut best = Vec::new();
    gather_top(&mut best, (0u32..).zip(logits.iter().copied()), k.min(logits.len()));
    best.sort_unstable_by(rank);
    Ok(best.iter().map(|c| (c.token, raw.logprob(c.logit))).collect())
}

/// Collects the `k` first candidates by [`rank`], in no order, without storing the rest: a buffer
/// of 2k fills with what beats the current k-th and is halved by selection.
pub(crate) fn gather_top(
    best: &mut Vec<Candidate>,
    logits: impl Iterator<Item = (u32, f32)>,
    k: usize,
) {
    best.clear();
    if k == 0 {
        return;
    }
    best.reserve(2 * k);
    // Ids rise, so an equal logit met later ranks behind the k-th and may be passed over.
    let mut floor = f32::NEG_INFINITY;
    for (token, logit) in logits {
        if logit <= floor {
            continue;
        }
        best.push(Candidate::new(token, logit));
        if best.len() == 2 * k {
            best.select_nth_unstable_by(k - 1, rank);
            best.truncate(k);
            floor = best[k - 1].logit;
        }
    }
    if best.len() > k {
        best.select_nth_unstable_by(k - 1, rank);
        best.truncate(k);
    }
}
