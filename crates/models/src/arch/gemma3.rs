//! `gemma3`: Gemma 3, text.
//!
//! Norms before and after each block, norms on each head of q and k, half-split rope, GeGLU,
//! embeddings scaled by √width. Five layers with a sliding window follow each other, then one
//! without; windowed layers have their own rope base and are never stretched.

use minfer_graph::op::add::Add;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::Pairs;
use minfer_graph::op::scale::Scale;
use minfer_graph::{Activation, Builder, Input, ValueId, WeightId};

use minfer_gguf::File;

use crate::block::attention::{Attn, scale};
use crate::block::embed::embed;
use crate::block::ffn::Ffn;
use crate::block::head::Head;
use crate::block::rope::{rope, windowed};
use crate::blueprint::Blueprint;
use crate::config::{Config, Keys};
use crate::error::Error;
use crate::model::Network;
use crate::weights::Weights;

/// Every sixth layer has no window, unless the file says otherwise.
const PERIOD: usize = 6;

/// Layers of the 27B model, the one whose scores are scaled by width per head; no metadata key says
/// so.
const LAYERS_27B: usize = 62;

pub(super) fn config(file: &File) -> Result<Config, Error> {
    let keys = Keys { metadata: file.metadata(), architecture: "gemma3" };
    let config = Config::read(file, "gemma3")?;
    Ok(Config { window: keys.window(PERIOD)?, ..config })
}

struct Layer {
    attention_norm: WeightId,
    attention: Attn,
    post_attention_norm: WeightId,
    ffn_norm: WeightId,
    ffn: Ffn,
    post_ffn_norm: WeightId,
}

struct Gemma3 {
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
            let mut norm =
                |name: &str| weights.vector(format!("blk.{i}.{name}.weight"), config.embedding);
            let attention_norm = norm("attn_norm")?;
            let post_attention_norm = norm("post_attention_norm")?;
            let ffn_norm = norm("ffn_norm")?;
            let post_ffn_norm = norm("post_ffw_norm")?;
            let attention = Attn::read(config, weights, i)?.with_norms(config, weights, i)?;
            let ffn = Ffn::read(config, weights, i)?;
            Ok(Layer {
                attention_norm,
                attention,
                post_attention_norm,
                ffn_norm,
                ffn,
                post_ffn_norm,
            })
        })
        .collect::<Result<_, Error>>()?;
    let head = Head::read(config, weights, embedding)?;
    Ok(Box::new(Gemma3 { embedding, layers, head }))
}

impl Network for Gemma3 {
    fn layers(&self, config: &Config, builder: &mut Builder) -> Result<ValueId, Error> {
        let global = rope(config, Pairs::HalfSplit);
        let local = config.window.map(|w| windowed(config, Pairs::HalfSplit, w.rope_base));
        let head_width = match self.layers.len() {
            LAYERS_27B => config.embedding / config.heads,
            _fewer => config.head_dim,
        };
        let x = embed(builder, self.embedding)?;
        let factor = (config.embedding as f32).sqrt();
        let mut x = builder.push_one("embd_scale", Scale { factor }, &[x])?;
        for (i, layer) in self.layers.iter().enumerate() {
            builder.layer(Some(i));
            let rope = match &local {
                Some(local) if config.window.is_some_and(|w| w.applies(i)) => local,
                Some(_) | None => &global,
            };
            let h = norm(builder, config, i, "attn_norm", layer.attention_norm, x)?;
            let h = layer.attention.write(config, builder, i, h, rope, scale(head_width))?;
            let h = norm(builder, config, i, "post_attention_norm", layer.post_attention_norm, h)?;
            x = builder.push_one(format!("blk.{i}.attn_residual"), Add, &[x, h])?;
            if i + 1 == self.layers.len() {
                let rows = builder.input(Input::OutputRows);
                x = builder.push_one("output_rows", GetRows, &[x, rows])?;
            }
            let h = norm(builder, config, i, "ffn_norm", layer.ffn_norm, x)?;
            let h = layer.ffn.write(builder, i, h, Activation::Gelu)?;
            let h = norm(builder, config, i, "post_ffw_norm", layer.post_ffn_norm, h)?;
            x = builder.push_one(format!("blk.{i}.ffn_residual"), Add, &[x, h])?;
        }
        Ok(x)
    }

    fn head(&self) -> &Head {
        &self.head
    }
}

fn norm(
    builder: &mut Builder,
    config: &Config,
    layer: usize,
    name: &str,
    weight: WeightId,
    x: ValueId,
) -> Result<ValueId, Error> {
    let norm = RmsNorm { weight, eps: config.eps };
    Ok(builder.push_one(format!("blk.{layer}.{name}"), norm, &[x])?)
}

pub(super) fn tiny(width: usize) -> Blueprint {
    Blueprint::tiny("gemma3", width).tied().with_layers(7).with_window(8)
}
