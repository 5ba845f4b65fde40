//! `llama`: Llama 2 and 3, Mistral, SmolLM2.
//!
//! Pre-norm layers, grouped K/V heads, interleaved rope (rows of q and k are stored for it),
//! SwiGLU.

use minfer_graph::op::rope::Pairs;

use minfer_gguf::File;

use crate::block::attention::Attn;
use crate::block::ffn::Ffn;
use crate::block::stack::{FeedForward, Parts, Stack};
use crate::blueprint::Blueprint;
use crate::config::Config;
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

pub(super) fn config(file: &File) -> Result<Config, Error> {
    Config::read(file, "llama")
}

pub(super) fn weights(
    config: &Config,
    weights: &mut Weights<'_>,
) -> Result<Box<dyn Network>, Error> {
    let stack = Stack::read(config, weights, Pairs::Interleaved, |weights, i| {
        Ok(Parts {
            attention: Attn::read(config, weights, i)?,
            feed_forward: FeedForward::Dense(Ffn::read(config, weights, i)?),
        })
    })?;
    Ok(Box::new(stack))
}

pub(super) fn tiny(width: usize) -> Blueprint {
    Blueprint::tiny("llama", width)
}
