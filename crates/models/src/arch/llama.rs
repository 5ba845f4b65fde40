//! `llama`: Llama 2 and 3, Mistral, SmolLM2.
//!
//! Pre-norm layers, grouped K/V heads, interleaved rope (rows of q and k are stored for it),
//! SwiGLU.

use minfer_graph::op::add::Add;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::Pairs;
use minfer_graph::{Activation, Builder, Input, ValueId, WeightId};

use minfer_gguf::File;

use crate::block::attention::{Attn, scale};
use crate::block::embed::embed;
use crate::block::ffn::Ffn;
use crate::block::head::Head;
use crate::block::rope::rope;
use crate::blueprint::Blueprint;
use crate::config::Config;
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

pub(super) fn config(file: &File) -> Result<Config, Error> {
    Config::read(file, "llama")
}

struct Layer {
    attention_norm: WeightId,
    attention: Attn,
    ffn_norm: WeightId,
    ffn: Ffn,
}

struct Llama {
    embedding: WeightId,
    layers: Vec<Layer>,
    head: Head,
}

pub(super) fn weights(
    config: &Config,
    weights: &mut Weights<'_>,
) -> Result<Box<dyn Network>, Error> {
    let embedding = weights.matrix("token_embd.weight", config.vocabulary, config.embedding)?;
    let layers = (0..config.layers)
        .map(|i| {
            Ok(Layer {
                attention_norm: weights
                    .vector(format!("blk.{i}.attn_norm.weight"), config.embedding)?,
                attention: Attn::read(config, weights, i)?,
                ffn_norm: weights.vector(format!("blk.{i}.ffn_norm.weight"), config.embedding)?,
                ffn: Ffn::read(config, weights, i)?,
            })
        })
        .collect::<Result<_, Error>>()?;
    let head = Head::read(config, weights, embedding)?;
    Ok(Box::new(Llama { embedding, layers, head }))
}

impl Network for Llama {
    fn layers(&self, config: &Config, builder: &mut Builder) -> Result<ValueId, Error> {
        let rope = rope(config, Pairs::Interleaved);
        let mut x = embed(builder, self.embedding)?;
        for (i, layer) in self.layers.iter().enumerate() {
            builder.layer(Some(i));
            let norm = RmsNorm { weight: layer.attention_norm, eps: config.eps };
            let h = builder.push_one(format!("blk.{i}.attn_norm"), norm, &[x])?;
            let h = layer.attention.write(config, builder, i, h, &rope, scale(config.head_dim))?;
            x = builder.push_one(format!("blk.{i}.attn_residual"), Add, &[x, h])?;
            if i + 1 == self.layers.len() {
                let rows = builder.input(Input::OutputRows);
                x = builder.push_one("output_rows", GetRows, &[x, rows])?;
            }
            let norm = RmsNorm { weight: layer.ffn_norm, eps: config.eps };
            let h = builder.push_one(format!("blk.{i}.ffn_norm"), norm, &[x])?;
            let h = layer.ffn.write(builder, i, h, Activation::Silu)?;
            x = builder.push_one(format!("blk.{i}.ffn_residual"), Add, &[x, h])?;
        }
        Ok(x)
    }

    fn head(&self) -> &Head {
        &self.head
    }
}

pub(super) fn tiny(width: usize) -> Blueprint {
    Blueprint::tiny("llama", width)
}
