//! Log-probabilities of a row of logits, in double precision.

/// A row with what its probabilities need.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    logits: &'a [f32],
    /// Natural logarithm of the sum of exponentials.
    log_sum: f64,
}

impl<'a> Row<'a> {
    /// Of logits.
    pub fn new(logits: &'a [f32]) -> Row<'a> {
        let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let max = f64::from(max);
        let sum: f64 = logits.iter().map(|logit| (f64::from(*logit) - max).exp()).sum();
        Row { logits, log_sum: max + sum.ln() }
    }

    /// A token's logit; NaN of a token that is not there.
    pub fn logit(&self, id: u32) -> f32 {
        self.logits.get(id as usize).copied().unwrap_or(f32::NAN)
    }

    /// A token's log-probability.
    pub fn logprob(&self, id: u32) -> f64 {
        f64::from(self.logit(id)) - self.log_sum
    }

    /// The most probable token, the first of equals.
    pub fn best(&self) -> u32 {
        let mut best = 0;
        for (id, logit) in self.logits.iter().enumerate() {
            if *logit > self.logits[best] {
                best = id;
            }
        }
        best as u32
    }

    /// The Kullback-Leibler divergence of `other` from this row: Σ p ln(p / q).
    pub fn divergence(&self, other: &Row<'_>) -> f64 {
        let terms = self.logits.iter().zip(other.logits).map(|(p, q)| {
            let (p, q) = (f64::from(*p) - self.log_sum, f64::from(*q) - other.log_sum);
            p.exp() * (p - q)
        });
        // Rounding can bring the sum of a near-equal pair below zero.
        terms.sum::<f64>().max(0.0)
    }
}

#[cfg(test)]
mod tests;
