//! A plain stack of pre-norm layers: norm, attention, residual, norm, feed-forward, residual.

use minfer_graph::op::add::Add;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::Pairs;
use minfer_graph::{Activation, Builder, Input, ValueId, WeightId};

use crate::block::attention::{Attn, scale};
use crate::block::embed::embed;
use crate::block::ffn::Ffn;
use crate::block::head::Head;
use crate::block::moe::Moe;
use crate::block::rope::rope;
use crate::config::Config;
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

/// A layer's second half.
pub(crate) enum FeedForward {
    Dense(Ffn),
    Experts(Moe),
}

/// What sets one layer apart from another's.
pub(crate) struct Parts {
    pub(crate) attention: Attn,
    pub(crate) feed_forward: FeedForward,
}

struct Layer {
    attention_norm: WeightId,
    ffn_norm: WeightId,
    parts: Parts,
}

/// Embedding, layers and head.
pub(crate) struct Stack {
    embedding: WeightId,
    layers: Vec<Layer>,
    pairs: Pairs,
    head: Head,
}

impl Stack {
    /// Reads norms and ends; `parts` reads the rest of layer i.
    pub(crate) fn read(
        config: &Config,
        weights: &mut Weights<'_>,
        pairs: Pairs,
        parts: impl Fn(&mut Weights<'_>, usize) -> Result<Parts, Error>,
    ) -> Result<Stack, Error> {
        let width = config.embedding;
        let embedding = weights.matrix("token_embd.weight", config.vocabulary, width)?;
        let layer = |i: usize| {
            Ok(Layer {
                attention_norm: weights.vector(format!("blk.{i}.attn_norm.weight"), width)?,
                ffn_norm: weights.vector(format!("blk.{i}.ffn_norm.weight"), width)?,
                parts: parts(weights, i)?,
            })
        };
        let layers = (0..config.layers).map(layer).collect::<Result<_, Error>>()?;
        let head = Head::read(config, weights, embedding)?;
        Ok(Stack { embedding, layers, pairs, head })
    }
}

impl Network for Stack {
    fn layers(&self, config: &Config, builder: &mut Builder) -> Result<ValueId, Error> {
        let rope = rope(config, self.pairs);
        let mut x = embed(builder, self.embedding)?;
        for (i, layer) in self.layers.iter().enumerate() {
            builder.layer(Some(i));
            let norm = RmsNorm { weight: layer.attention_norm, eps: config.eps };
            let h = builder.push_one(format!("blk.{i}.attn_norm"), norm, &[x])?;
            let attention = &layer.parts.attention;
            let h = attention.write(config, builder, i, h, &rope, scale(config.head_dim))?;
            x = builder.push_one(format!("blk.{i}.attn_residual"), Add, &[x, h])?;
            // Past the last attention only the rows whose logits are wanted matter.
            if i + 1 == self.layers.len() {
                let rows = builder.input(Input::OutputRows);
                x = builder.push_one("output_rows", GetRows, &[x, rows])?;
            }
            let norm = RmsNorm { weight: layer.ffn_norm, eps: config.eps };
            let h = builder.push_one(format!("blk.{i}.ffn_norm"), norm, &[x])?;
            let h = match &layer.parts.feed_forward {
                FeedForward::Dense(ffn) => ffn.write(builder, i, h, Activation::Silu)?,
                FeedForward::Experts(moe) => moe.write(builder, i, h, Activation::Silu)?,
            };
            x = builder.push_one(format!("blk.{i}.ffn_residual"), Add, &[x, h])?;
        }
        Ok(x)
    }

    fn head(&self) -> &Head {
        &self.head
    }
}
