//! What a step gives out.

use std::time::Duration;

use crate::scheduler::SequenceId;

/// News of one sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A token was chosen.
    Token {
        /// Whose.
        sequence: SequenceId,
        /// Its id; an end token is given out like any other.
        id: u32,
        /// Text that is now certain: whole characters, nothing that may be part of a stop string.
        /// Often empty.
        text: String,
        /// Natural log-probability in the model's own distribution, where the request asked for
        /// probabilities or for a fingerprint.
        logprob: Option<f32>,
        /// The most probable ids with their log-probabilities, as many as the request asked for.
        top: Vec<(u32, f32)>,
    },
    /// The sequence has ended; its id is no longer known.
    Finished {
        /// Which.
        sequence: SequenceId,
        /// Why.
        reason: FinishReason,
        /// What it took.
        stats: SequenceStats,
    },
}

impl Event {
    /// The sequence it is about.
    pub fn sequence(&self) -> SequenceId {
        match self {
            Event::Token { sequence, .. } | Event::Finished { sequence, .. } => *sequence,
        }
    }
}

/// Why a sequence ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// An end token, a stop string, or a grammar with nothing left to say.
    Stop,
    /// As many tokens as were asked for.
    Length,
    /// No room for another position.
    ContextFull,
    /// Whoever asked no longer wants it.
    Cancelled,
    /// Its time is up.
    Deadline,
    /// It failed, for this reason.
    Failed(String),
}

impl FinishReason {
    /// Name in JSON and logs.
    pub fn name(&self) -> &'static str {
        match self {
            FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::ContextFull => "context_full",
            FinishReason::Cancelled => "cancelled",
            FinishReason::Deadline => "deadline",
            FinishReason::Failed(_) => "failed",
        }
    }
}

/// What a sequence took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequenceStats {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Of these, tokens whose pages came from the prefix cache.
    pub cached_tokens: usize,
    /// Tokens chosen.
    pub generated: usize,
    /// From its first step to its first token.
    pub prefill: Duration,
    /// From its first token to its end.
    pub decode: Duration,
    /// See [`crate::LogitsHash`]: over every row that was sampled, in order; where the request
    /// asked for a fingerprint.
    pub logits_hash: Option<u64>,
}

/// A finished generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Its text, without the stop string.
    pub text: String,
    /// The ids chosen, the end token among them.
    pub tokens: Vec<u32>,
    /// Why it ended.
    pub reason: FinishReason,
    /// What it took.
    pub stats: SequenceStats,
}
