//! A model on paper: hyper-parameters without a file, and the metadata and tensors its file would
//! have.
//!
//! Tests make tiny files of every architecture from blueprints, and `synth` makes large ones.

use minfer_gguf::Value;

use crate::arch::{ARCHITECTURES, Architecture};
use crate::config::{Config, Experts, Scaling, Window};
use crate::error::Error;
use crate::weights::Weights;

/// Hyper-parameters, and what a file may or may not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Blueprint {
    /// Hyper-parameters.
    pub config: Config,
    /// Whether q, k and v have biases.
    pub biases: bool,
    /// Whether the embedding serves as the output matrix.
    pub tied: bool,
}

/// A tensor that a blueprint's file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorShape {
    /// Its name.
    pub name: String,
    /// Its dimensions, the contiguous one first.
    pub dims: Vec<u64>,
}

impl Blueprint {
    /// Two layers of the given width (a multiple of 64; 256 lets every format in), for tests: four
    /// or more query heads of 32 in two K/V groups, 288 tokens, 512 positions.
    pub fn tiny(architecture: &'static str, width: usize) -> Blueprint {
        let config = Config {
            architecture,
            context: 512,
            vocabulary: 288,
            embedding: width,
            layers: 2,
            feed_forward: width * 2,
            heads: (width / 32).max(4),
            kv_heads: 2,
            head_dim: 32,
            rope_dims: 32,
            rope_base: 10_000.0,
            scaling: Scaling::None,
            eps: 1e-5,
            window: None,
            experts: None,
        };
        Blueprint { config, biases: false, tied: false }
    }

    /// With biases on q, k and v.
    pub fn with_biases(self) -> Blueprint {
        Blueprint { biases: true, ..self }
    }

    /// With the embedding as output matrix.
    pub fn tied(self) -> Blueprint {
        Blueprint { tied: true, ..self }
    }

    /// With so many layers.
    pub fn with_layers(mut self, layers: usize) -> Blueprint {
        self.config.layers = layers;
        self
    }

    /// With a sliding window on all but every sixth layer.
    pub fn with_window(mut self, size: usize) -> Blueprint {
        self.config.window = Some(Window { size, period: 6, rope_base: 10_000.0 });
        self
    }

    /// With experts in place of the feed-forward block.
    pub fn with_experts(mut self, count: usize, used: usize, width: usize) -> Blueprint {
        self.config.experts = Some(Experts { count, used, width });
        self
    }

    /// The tensors of the file, in the order in which the architecture asks for them.
    pub fn tensors(&self) -> Result<Vec<TensorShape>, Error> {
        let architecture = self.architecture()?;
        let mut weights = Weights::recording(self);
        (architecture.weights)(&self.config, &mut weights)?;
        let mut tensors = weights.into_recorded();
        if let Scaling::Factors(factors) = &self.config.scaling {
            let (name, dims) = ("rope_freqs.weight".into(), vec![factors.len() as u64]);
            tensors.push(TensorShape { name, dims });
        }
        Ok(tensors)
    }

    /// Whether the file has an optional tensor.
    pub(crate) fn has(&self, name: &str) -> bool {
        if name == "output.weight" { !self.tied } else { self.biases && name.ends_with(".bias") }
    }

    fn architecture(&self) -> Result<&'static Architecture, Error> {
        let found = self.config.architecture;
        ARCHITECTURES.iter().find(|a| a.name == found).ok_or_else(|| Error::Architecture {
            found: found.into(),
            known: ARCHITECTURES.iter().map(|a| a.name).collect(),
        })
    }

    /// The metadata of the file, without a tokenizer.
    pub fn metadata(&self) -> Vec<(String, Value)> {
        let c = &self.config;
        let mut entries: Vec<(String, Value)> =
            vec![("general.architecture".into(), c.architecture.into())];
        let mut add = |name: &str, value: Value| {
            entries.push((format!("{}.{name}", c.architecture), value));
        };
        let size = |size: usize| Value::from(u32::try_from(size).unwrap_or(u32::MAX));
        add("context_length", size(c.context));
        add("embedding_length", size(c.embedding));
        add("block_count", size(c.layers));
        add("feed_forward_length", size(c.feed_forward));
        add("attention.head_count", size(c.heads));
        add("attention.head_count_kv", size(c.kv_heads));
        add("attention.key_length", size(c.head_dim));
        add("attention.value_length", size(c.head_dim));
        add("attention.layer_norm_rms_epsilon", c.eps.into());
        add("rope.dimension_count", size(c.rope_dims));
        add("rope.freq_base", (c.rope_base as f32).into());
        if let Some(window) = c.window {
            add("attention.sliding_window", size(window.size));
            add("attention.sliding_window_pattern", size(window.period));
            add("rope.freq_base_swa", (window.rope_base as f32).into());
        }
        if let Some(experts) = c.experts {
            add("expert_count", size(experts.count));
            add("expert_used_count", size(experts.used));
            add("expert_feed_forward_length", size(experts.width));
        }
        for (name, value) in scaling(&c.scaling) {
            add(&format!("rope.scaling.{name}"), value);
        }
        entries
    }
}

/// Metadata of a stretching, without the common part of the keys. Factors are a tensor instead.
fn scaling(scaling: &Scaling) -> Vec<(&'static str, Value)> {
    let number = |number: f64| Value::from(number as f32);
    match *scaling {
        Scaling::None | Scaling::Factors(_) => Vec::new(),
        Scaling::Linear { factor } => vec![("type", "linear".into()), ("factor", number(factor))],
        Scaling::Yarn {
            factor,
            original_context,
            beta_fast,
            beta_slow,
            log_multiplier,
            attention_factor,
        } => vec![
            ("type", "yarn".into()),
            ("factor", number(factor)),
            ("original_context_length", Value::from(original_context as u32)),
            ("yarn_beta_fast", number(beta_fast)),
            ("yarn_beta_slow", number(beta_slow)),
            ("yarn_log_multiplier", number(log_multiplier)),
            ("attn_factor", number(attention_factor)),
        ],
    }
}
