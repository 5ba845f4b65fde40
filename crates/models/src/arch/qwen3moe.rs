//! `qwen3moe`: Qwen 3, mixtures of experts.
//!
//! Pre-norm layers, norms on each head of q and k, half-split rope, and experts with SwiGLU
//! of which each token uses the few best, their shares made to sum to one.

use minfer_graph::op::rope::Pairs;

use minfer_gguf::File;

use crate::block::attention::Attn;
use crate::block::moe::Moe;
use crate::block::stack::{FeedForward, Parts, Stack};
use crate::blueprint::Blueprint;
use crate::config::{Config, Keys};
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

pub(super) fn config(file: &File) -> Result<Config, Error> {
    let keys = Keys { metadata: file.metadata(), architecture: "qwen3moe" };
    let config = Config::read(file, "qwen3moe")?;
    Ok(Config { experts: Some(keys.experts()?), ..config })
}

pub(super) fn weights(
    config: &Config,
    weights: &mut Weights<'_>,
) -> Result<Box<dyn Network>, Error> {
    let experts = config.experts.ok_or_else(|| Error::Parameter {
        key: "qwen3moe.expert_count".into(),
        expected: "a mixture of experts".into(),
        found: "none".into(),
    })?;
    let stack = Stack::read(config, weights, Pairs::HalfSplit, |weights, i| {
        Ok(Parts {
            attention: Attn::read(config, weights, i)?.with_norms(config, weights, i)?,
            feed_forward: FeedForward::Experts(Moe::read(config, weights, i, experts)?),
        })
    })?;
    Ok(Box::new(stack))
}

pub(super) fn tiny(width: usize) -> Blueprint {
    Blueprint::tiny("qwen3moe", width).with_experts(4, 2, width)
}
