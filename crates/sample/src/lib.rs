//! Logits in, one token out: the sampler chain and constrained decoding.
//!
//! A [`Chain`] takes the logits of one position, the tokens so far and, when the output is
//! constrained, a [`Mask`] of the tokens allowed next, and chooses a token. The stages, their
//! order and their defaults are those of llama.cpp, so that a setting means here what it means
//! there; each stage is a pure function in [`stage`].
//!
//! A [`grammar::Constraint`] follows a JSON schema, a regular expression or a Lark grammar token
//! by token and answers with the mask.
//!
//! This crate knows slices only: no model, no file, no text, no clock but the grammar compiler's
//! time limit. Invariants:
//! - A logit that is NaN or infinite is [`Error::NumericFault`], never a token.
//! - A token outside the mask is never chosen, and every stage keeps at least one candidate.
//! - The choice is a function of (logits, history, mask, parameters, seed, number of the draw),
//!   equal on every platform: no arithmetic here goes through the platform's math library.

mod chain;
mod draw;
mod error;
pub mod grammar;
mod mask;
mod math;
mod params;
mod probability;
pub mod rng;
pub mod stage;

pub use chain::{Chain, Choice};
pub use error::Error;
pub use mask::Mask;
pub use params::{Dry, Mirostat, Params, Penalties, Xtc};
pub use probability::top_logprobs;

#[cfg(test)]
mod math_tests;
