//! From a row of logits, or the largest of them, to a token and its text, for one sequence.

use minfer_sample::grammar::Constraint;
use minfer_sample::{Chain, top_logprobs};
use minfer_tokenizer::{Decoder, Tokenizer};

use crate::error::Error;
use crate::stop::StopText;

/// Sampler, grammar and text of a sequence.
#[derive(Debug)]
pub(crate) struct Sampling {
    pub(crate) chain: Chain,
    pub(crate) constraint: Option<Constraint>,
    pub(crate) decoder: Option<Decoder>,
    pub(crate) stop: StopText,
    pub(crate) logprobs: usize,
    pub(crate) fingerprint: bool,
}

/// What a step gave of an output row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    /// All logits.
    Logits(&'a [f32]),
    /// The largest, in falling order.
    Ranked { ids: &'a [i32], logits: &'a [f32] },
}

/// A chosen token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) id: u32,
    pub(crate) text: String,
    pub(crate) logprob: Option<f32>,
    pub(crate) top: Vec<(u32, f32)>,
    /// Whether it ends the generation: an end token, a stop string, a grammar with nothing left to
    /// say.
    pub(crate) stops: bool,
}

impl Sampling {
    /// Whether the largest logit is likely to be the choice.
    pub(crate) fn is_greedy(&self) -> bool {
        self.chain.is_greedy() && self.constraint.is_none()
    }

    /// How many of the largest logits are all that it looks at, where all of them are not needed.
    pub(crate) fn ranked(&self) -> Option<usize> {
        let whole = self.constraint.is_some() || self.tells_probabilities();
        if whole { None } else { self.chain.ranked() }
    }

    fn tells_probabilities(&self) -> bool {
        self.logprobs > 0 || self.fingerprint
    }

    /// Chooses the next token after `history`.
    pub(crate) fn sample(
        &mut self,
        tokenizer: &Tokenizer,
        row: Row<'_>,
        history: &[u32],
    ) -> Result<Sampled, Error> {
        let (mut logprob, mut top) = (None, Vec::new());
        let id = match row {
            Row::Ranked { ids, logits } => self.chain.sample_ranked(ids, logits)?,
            Row::Logits(logits) => {
                let mask = self.constraint.as_mut().map(|mask| mask.mask()).transpose()?;
                let choice = self.chain.sample(logits, history, mask)?;
                logprob = self.tells_probabilities().then_some(choice.logprob);
                if self.logprobs > 0 {
                    top = top_logprobs(logits, self.logprobs)?;
                }
                choice.token
            }
        };
        let mut stops = tokenizer.is_eog(id);
        if let Some(constraint) = &mut self.constraint {
            constraint.accept(id)?;
            stops |= constraint.is_finished();
        }
        let piece = self.decoder.as_mut().map_or(String::new(), |decoder| decoder.push(id));
        let (text, stopped) = self.stop.push(&piece);
        if stopped {
            self.decoder = None;
        }
        Ok(Sampled { id, text, logprob, top, stops: stops || stopped })
    }

    /// The text that was still held back, when the generation ends without a stop string.
    pub(crate) fn finish(&mut self) -> String {
        let Some(decoder) = self.decoder.take() else { return String::new() };
        let (mut text, stopped) = self.stop.push(&decoder.finish());
        if !stopped {
            text.push_str(&self.stop.finish());
        }
        text
    }
}
