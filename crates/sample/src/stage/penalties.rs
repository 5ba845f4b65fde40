//! Repetition, frequency and presence penalties on the tokens of a window of the history.
//!
//! For a token that occurs n > 0 times: a logit above zero is divided by `repeat`, any other is
//! multiplied by it; then n * frequency + presence is subtracted. Sources: Keskar et al.,
//! arXiv:1909.05858 (repeat); OpenAI's API reference (frequency, presence).

use crate::params::Penalties;

/// Applies the penalties for the tokens of `window` (its order does not matter). `sorted` is
/// scratch. Ids outside the logits are passed over.
pub fn penalties(logits: &mut [f32], window: &[u32], settings: &Penalties, sorted: &mut Vec<u32>) {
    sorted.clear();
    sorted.extend_from_slice(window);
    sorted.sort_unstable();
    for run in sorted.chunk_by(|a, b| a == b) {
        let Some(logit) = logits.get_mut(run[0] as usize) else { continue };
        let count = run.len() as f32;
        *logit = if *logit > 0.0 { *logit / settings.repeat } else { *logit * settings.repeat };
        *logit -= count * settings.frequency + settings.presence;
    }
}
