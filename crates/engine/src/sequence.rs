//! A request while it runs: sampler, grammar, text, limits. Its tokens and pages are the
//! scheduler's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use minfer_plan::Stop;
use minfer_sample::Params;
use minfer_sample::grammar::Grammar;

use crate::event::SequenceStats;
use crate::sampling::Sampling;
use crate::stats::LogitsHash;

/// A generation to run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Token ids, at least one.
    pub prompt: Vec<u32>,
    /// How tokens are chosen.
    pub sampling: Params,
    /// Tokens to choose at most; with 0 the prompt is computed and nothing chosen.
    pub max_tokens: Option<usize>,
    /// Texts that end the generation; they are not part of the result.
    pub stop: Vec<String>,
    /// What the text must match.
    pub grammar: Option<Grammar>,
    /// Never choose an end token.
    pub ignore_eos: bool,
    /// How many of the most probable tokens to report with each.
    pub logprobs: usize,
    /// Whether all logits are hashed. Without this, and where sampling needs only the largest of
    /// them, a device chooses these itself and the others are not read.
    pub fingerprint: bool,
    /// Time from submit after which the generation ends.
    pub deadline: Option<Duration>,
    /// Whether control tokens show as their names in the text.
    pub show_special: bool,
}

/// Ends a sequence from any thread: at the next step, or inside the running one when that works on
/// its prompt.
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<AtomicBool>);

impl Canceller {
    /// Asks for the end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// When a sequence is to stop early.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) canceller: Canceller,
    /// By the engine's clock.
    pub(crate) deadline: Option<Duration>,
}

impl Limits {
    /// The reason to stop now, if there is one.
    pub(crate) fn reached(&self, now: Duration) -> Option<Stop> {
        if self.canceller.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        self.deadline.filter(|deadline| now >= *deadline).map(|_| Stop::Deadline)
    }
}

/// What the engine keeps of a running request.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) sampling: Sampling,
    pub(crate) limits: Limits,
    pub(crate) max_tokens: Option<usize>,
    pub(crate) prompt_tokens: usize,
    pub(crate) generated: usize,
    pub(crate) hash: Option<LogitsHash>,
    /// When its first step began, and when its first token was chosen.
    pub(crate) started: Option<Duration>,
    pub(crate) first_token: Option<Duration>,
}

impl Live {
    /// What it has taken so far.
    pub(crate) fn stats(&self, cached_tokens: usize, now: Duration) -> SequenceStats {
        let started = self.started.unwrap_or(now);
        let first = self.first_token.unwrap_or(now);
        SequenceStats {
            prompt_tokens: self.prompt_tokens,
            cached_tokens,
            generated: self.generated,
            prefill: first.saturating_sub(started),
            decode: now.saturating_sub(first),
            logits_hash: self.hash.map(LogitsHash::value),
        }
    }

    /// Tokens that are still to be chosen, where that is known.
    pub(crate) fn left(&self) -> Option<usize> {
        self.max_tokens.map(|max| max.saturating_sub(self.generated))
    }

    /// Whether as many tokens as were asked for have been chosen.
    pub(crate) fn is_long_enough(&self) -> bool {
        self.max_tokens.is_some_and(|max| self.generated >= max)
    }
}
