//! DRY ("don't repeat yourself"): a token that would go on with a repetition is penalised, the
//! more the longer the repetition is.
//!
//! Let w be the window, n its length. For each position j in 1..n, m(j) is the length of the
//! longest common suffix of w[..j] and w, cut to the number of tokens after the last sequence
//! breaker. The token w[j] continued that text once; if m(j) >= allowed_length, its logit loses
//! multiplier * base^(m - allowed_length), with the largest m over its positions. The suffix
//! lengths are a Z-function of the reversed window, so the cost is linear in the window.
//! Source: p-e-w, text-generation-webui pull request 5677.

use crate::math;
use crate::params::Dry;

/// Buffers that [`dry`] fills anew each time.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Common suffix lengths: `suffix[i]` compares the window with itself less its last i tokens.
    suffix: Vec<u32>,
    /// (token, length) of each repetition that is long enough.
    repeats: Vec<(u32, u32)>,
}

#[cfg(test)]
impl Scratch {
    /// Where the buffers lie and how large they are, folded into one pair.
    pub(crate) fn buffers(&self) -> (usize, usize) {
        let places = self.suffix.as_ptr() as usize ^ self.repeats.as_ptr() as usize;
        (places, self.suffix.capacity() + self.repeats.capacity())
    }
}

/// Applies the penalty. `window` is the history's last tokens, oldest first; `settings.breakers`
/// are the token sequences over which no repetition reaches.
pub fn dry(logits: &mut [f32], window: &[u32], settings: &Dry, scratch: &mut Scratch) {
    let limit = after_last_breaker(window, &settings.breakers);
    let allowed = settings.allowed_length as usize;
    if limit < allowed.max(1) {
        return;
    }
    suffix_lengths(window, &mut scratch.suffix);
    scratch.repeats.clear();
    for back in 1..window.len() {
        let length = (scratch.suffix[back] as usize).min(limit);
        if length >= allowed.max(1) {
            scratch.repeats.push((window[window.len() - back], length as u32));
        }
    }
    scratch.repeats.sort_unstable();
    for run in scratch.repeats.chunk_by(|a, b| a.0 == b.0) {
        let (token, length) = run[run.len() - 1];
        if let Some(logit) = logits.get_mut(token as usize) {
            *logit -= penalty(settings, length);
        }
    }
}

/// multiplier * base^(length - allowed_length), at most 1e30 so that the logit stays finite.
fn penalty(settings: &Dry, length: u32) -> f32 {
    let exponent = f64::from(length) - f64::from(settings.allowed_length);
    let grown = f64::from(settings.multiplier) * math::pow(f64::from(settings.base), exponent);
    grown.min(1e30) as f32
}

/// The number of tokens after the breaker that ends last in the window; all of them without one.
fn after_last_breaker(window: &[u32], breakers: &[Vec<u32>]) -> usize {
    let ends = |breaker: &Vec<u32>| {
        let len = breaker.len();
        let found = window.windows(len.max(1)).rposition(|part| part == breaker.as_slice());
        found.map(|start| window.len() - start - len)
    };
    breakers.iter().filter_map(ends).min().unwrap_or(window.len())
}

/// Fills `suffix[i]` for i in 0..n with the length of the longest common suffix of the window and
/// the window less its last i tokens (the Z-function, read from the end).
fn suffix_lengths(window: &[u32], suffix: &mut Vec<u32>) {
    let n = window.len();
    let from_end = |index: usize| window[n - 1 - index];
    suffix.clear();
    suffix.resize(n, 0);
    // The match that reaches farthest so far covers [start, end).
    let (mut start, mut end) = (0, 0);
    for index in 1..n {
        let mut length = 0;
        if index < end {
            length = (suffix[index - start] as usize).min(end - index);
        }
        while index + length < n && from_end(length) == from_end(index + length) {
            length += 1;
        }
        if index + length > end {
            (start, end) = (index, index + length);
        }
        suffix[index] = length as u32;
    }
}
