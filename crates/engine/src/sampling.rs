//! From a row of logits to a token and its text, for one sequence.

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
}

/// A chosen token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sampled {
    pub(crate) id: u32,
    pub(crate) text: String,
    pub(crate) logprob: f32,
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

    /// Chooses the next token after `history`.
    pub(crate) fn sample(
        &mut self,
        tokenizer: &Tokenizer,
        logits: &[f32],
        history: &[u32],
    ) -> Result<Sampled, Error> {
        let mask = self.constraint.as_mut().map(|constraint| constraint.mask()).transpose()?;
        let choice = self.chain.sample(logits, history, mask)?;
        let top = match self.logprobs {
            0 => Vec::new(),
            k => top_logprobs(logits, k)?,
        };
        let id = choice.token;
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
        Ok(Sampled { id, text, logprob: choice.logprob, top, stops: stops || stopped })
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
