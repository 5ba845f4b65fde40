//! Hyper-parameters, typed and checked.

use minfer_gguf::{File, Metadata};
use minfer_graph::op::rope::Pairs;
use minfer_quant::KvType;

use crate::block::rope::rope;
use crate::error::Error;

/// Limits on hyper-parameters; anything larger is taken for a broken file.
const MAX_LAYERS: usize = 1024;
const MAX_HEADS: usize = 1024;
const MAX_VOCABULARY: usize = 2 << 20;
const MAX_CONTEXT: usize = 16 << 20;
const MAX_WIDTH: usize = 1 << 20;
const MAX_EXPERTS: usize = 4096;

/// A sliding window that some layers have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Positions that a query sees, itself included.
    pub size: usize,
    /// Every `period`-th layer has no window.
    pub period: usize,
    /// Rope base of the windowed layers.
    pub rope_base: f64,
}

impl Window {
    /// Whether layer `layer` has the window.
    pub fn applies(&self, layer: usize) -> bool {
        !(layer + 1).is_multiple_of(self.period)
    }
}

/// A mixture of experts in place of the feed-forward block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// Experts in a layer.
    pub count: usize,
    /// Experts that a token uses.
    pub used: usize,
    /// Inner width of an expert.
    pub width: usize,
}

/// How rotary frequencies are stretched for longer contexts.
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// As trained.
    None,
    /// All frequencies divided by the factor.
    Linear {
        /// The factor.
        factor: f64,
    },
    /// Each frequency divided by its own factor (llama3's `rope_freqs.weight`).
    Factors(Vec<f32>),
    /// YaRN (Peng et al., arXiv:2309.00071).
    Yarn {
        /// How far the context is stretched.
        factor: f64,
        /// Context before stretching.
        original_context: f64,
        /// Rotations above which a frequency stays.
        beta_fast: f64,
        /// Rotations below which a frequency is divided.
        beta_slow: f64,
        /// Share of the magnitude that the checkpoint's weights already hold.
        log_multiplier: f64,
        /// Factor on the magnitude.
        attention_factor: f64,
    },
}

/// Hyper-parameters of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Name of the architecture.
    pub architecture: &'static str,
    /// Trained context, in positions.
    pub context: usize,
    /// Tokens of the vocabulary: rows of the embedding.
    pub vocabulary: usize,
    /// Width of the residual stream.
    pub embedding: usize,
    /// Layers.
    pub layers: usize,
    /// Inner width of the feed-forward block.
    pub feed_forward: usize,
    /// Query heads.
    pub heads: usize,
    /// K/V heads.
    pub kv_heads: usize,
    /// Elements of a head.
    pub head_dim: usize,
    /// Elements of a head that are turned.
    pub rope_dims: usize,
    /// Rope base of layers without a window.
    pub rope_base: f64,
    /// Stretching of layers without a window.
    pub scaling: Scaling,
    /// Added to the mean square in norms.
    pub eps: f32,
    /// Sliding window.
    pub window: Option<Window>,
    /// Mixture of experts.
    pub experts: Option<Experts>,
}

impl Config {
    /// Reads what all architectures share. The embedding's rows give the vocabulary.
    pub fn read(file: &File, architecture: &'static str) -> Result<Config, Error> {
        let keys = Keys { metadata: file.metadata(), architecture };
        let heads = keys.size("attention.head_count", None, 1, MAX_HEADS)?;
        let embedding = keys.size("embedding_length", None, 1, MAX_WIDTH)?;
        let natural = embedding / heads;
        let head_dim = keys.size("attention.key_length", Some(natural), 1, MAX_WIDTH)?;
        let value_dim = keys.size("attention.value_length", Some(head_dim), 1, MAX_WIDTH)?;
        if value_dim != head_dim {
            return Err(keys.bad("attention.value_length", head_dim, value_dim));
        }
        let kv_heads = keys.size("attention.head_count_kv", Some(heads), 1, MAX_HEADS)?;
        if !heads.is_multiple_of(kv_heads) {
            let divisor = format!("a divisor of {heads} query heads");
            return Err(keys.bad("attention.head_count_kv", divisor, kv_heads));
        }
        let rope_dims = keys.size("rope.dimension_count", Some(head_dim), 2, head_dim)?;
        let config = Config {
            architecture,
            context: keys.size("context_length", None, 1, MAX_CONTEXT)?,
            vocabulary: vocabulary(file)?,
            embedding,
            layers: keys.size("block_count", None, 1, MAX_LAYERS)?,
            feed_forward: keys.size("feed_forward_length", None, 1, MAX_WIDTH)?,
            heads,
            kv_heads,
            head_dim,
            rope_dims: rope_dims / 2 * 2,
            rope_base: keys.positive("rope.freq_base", 10_000.0)?,
            scaling: keys.scaling(file, rope_dims / 2)?,
            eps: keys.number("attention.layer_norm_rms_epsilon", None)? as f32,
            window: None,
            experts: None,
        };
        keys.check_rotation(&config)?;
        Ok(config)
    }

    /// The K/V types that this model's head size allows, or why not.
    pub fn check_kv(&self, kv: KvType) -> Result<(), Error> {
        kv.row_bytes(self.head_dim)?;
        Ok(())
    }
}

/// Typed access to the metadata keys of one architecture.
pub(crate) struct Keys<'a> {
    pub(crate) metadata: &'a Metadata,
    pub(crate) architecture: &'static str,
}

impl Keys<'_> {
    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    pub(crate) fn bad(&self, name: &str, expected: impl ToString, found: impl ToString) -> Error {
        let (expected, found) = (expected.to_string(), found.to_string());
        Error::Parameter { key: self.key(name), expected, found }
    }

    /// A count between `low` and `high`; `default` where the key may be absent.
    pub(crate) fn size(
        &self,
        name: &str,
        default: Option<usize>,
        low: usize,
        high: usize,
    ) -> Result<usize, Error> {
        let key = self.key(name);
        let found = match default {
            None => self.metadata.require_u64(&key)?,
            Some(default) => self.metadata.u64(&key)?.unwrap_or(default as u64),
        };
        match usize::try_from(found) {
            Ok(size) if (low..=high).contains(&size) => Ok(size),
            Ok(_) | Err(_) => Err(self.bad(name, format!("{low} to {high}"), found)),
        }
    }

    /// A finite number, at least 0.
    pub(crate) fn number(&self, name: &str, default: Option<f64>) -> Result<f64, Error> {
        let key = self.key(name);
        let found = match default {
            None => f64::from(self.metadata.require_f32(&key)?),
            Some(default) => self.metadata.f32(&key)?.map_or(default, f64::from),
        };
        if found.is_finite() && found >= 0.0 {
            Ok(found)
        } else {
            Err(self.bad(name, "a finite number, at least 0", found))
        }
    }

    /// A finite number above 0.
    pub(crate) fn positive(&self, name: &str, default: f64) -> Result<f64, Error> {
        match self.number(name, Some(default))? {
            found if found > 0.0 => Ok(found),
            found => Err(self.bad(name, "a finite number above 0", found)),
        }
    }

    pub(crate) fn window(&self, default_period: usize) -> Result<Option<Window>, Error> {
        let size = self.size("attention.sliding_window", Some(0), 0, MAX_CONTEXT)?;
        if size == 0 {
            return Ok(None);
        }
        let period =
            self.size("attention.sliding_window_pattern", Some(default_period), 1, MAX_LAYERS)?;
        let rope_base = self.positive("rope.freq_base_swa", 10_000.0)?;
        Ok(Some(Window { size, period, rope_base }))
    }

    pub(crate) fn experts(&self) -> Result<Experts, Error> {
        let count = self.size("expert_count", None, 1, MAX_EXPERTS)?;
        let used = self.size("expert_used_count", None, 1, count)?;
        let width = self.size("expert_feed_forward_length", None, 1, MAX_WIDTH)?;
        Ok(Experts { count, used, width })
    }

    fn scaling(&self, file: &File, pairs: usize) -> Result<Scaling, Error> {
        let named = self.metadata.str(&self.key("rope.scaling.type"))?.unwrap_or("none");
        let factor = self.positive("rope.scaling.factor", 1.0)?;
        match named {
            "none" | "" => match file.tensor("rope_freqs.weight") {
                Some(_) => Ok(Scaling::Factors(factors(file, pairs)?)),
                None => Ok(Scaling::None),
            },
            "linear" => Ok(Scaling::Linear { factor }),
            "yarn" => self.yarn(factor),
            other => Err(self.bad("rope.scaling.type", "none, linear or yarn", other)),
        }
    }

    fn yarn(&self, factor: f64) -> Result<Scaling, Error> {
        // Its ramp is linear in the logarithm of the base.
        let base = self.positive("rope.freq_base", 10_000.0)?;
        if base <= 1.0 {
            return Err(self.bad("rope.freq_base", "a number above 1 for yarn", base));
        }
        let context = self.size("context_length", None, 1, MAX_CONTEXT)?;
        let original = "rope.scaling.original_context_length";
        Ok(Scaling::Yarn {
            factor,
            original_context: self.size(original, Some(context), 1, MAX_CONTEXT)? as f64,
            beta_fast: self.positive("rope.scaling.yarn_beta_fast", 32.0)?,
            beta_slow: self.positive("rope.scaling.yarn_beta_slow", 1.0)?,
            log_multiplier: self.number("rope.scaling.yarn_log_multiplier", Some(0.0))?,
            attention_factor: self.positive("rope.scaling.attn_factor", 1.0)?,
        })
    }

    /// The numbers that rope becomes are ones to compute with: each may be in range and their
    /// product not.
    fn check_rotation(&self, config: &Config) -> Result<(), Error> {
        let rope = rope(config, Pairs::HalfSplit);
        if !(rope.magnitude.is_normal() && rope.magnitude > 0.0) {
            let expected = "a magnitude of q and k that f32 holds";
            return Err(self.bad("rope.scaling.attn_factor", expected, rope.magnitude));
        }
        match rope.frequencies.iter().find(|f| !f.is_finite()) {
            Some(bad) => Err(self.bad("rope.freq_base", "finite frequencies", bad)),
            None => Ok(()),
        }
    }
}

/// Rows of the embedding matrix.
fn vocabulary(file: &File) -> Result<usize, Error> {
    let key = "token_embd.weight".to_string();
    let Some(tensor) = file.tensor(&key) else {
        let expected = "an embedding matrix".to_string();
        return Err(Error::Parameter { key, expected, found: "no such tensor".into() });
    };
    let rows = tensor.dims.get(1).copied().unwrap_or(0);
    match usize::try_from(rows) {
        Ok(rows) if (1..=MAX_VOCABULARY).contains(&rows) => Ok(rows),
        Ok(_) | Err(_) => Err(Error::Parameter {
            key,
            expected: format!("1 to {MAX_VOCABULARY} rows"),
            found: format!("dimensions {:?}", tensor.dims),
        }),
    }
}

/// The factors of llama3's scaling, one per pair.
fn factors(file: &File, pairs: usize) -> Result<Vec<f32>, Error> {
    let name = "rope_freqs.weight";
    let expected = vec![pairs as u64];
    let Some(tensor) = file.tensor(name) else {
        return Err(Error::MissingTensor { name: name.into(), architecture: "rope", expected });
    };
    if tensor.dims != expected {
        let found = tensor.dims.clone();
        return Err(Error::TensorShape { name: name.into(), expected, found });
    }
    let mut factors = vec![0.0; pairs];
    tensor.quant.decode(file.bytes(tensor), &mut factors)?;
    match factors.iter().find(|f| !f.is_finite() || **f <= 0.0) {
        None => Ok(factors),
        Some(bad) => Err(Error::Parameter {
            key: name.into(),
            expected: "finite factors above 0".into(),
            found: bad.to_string(),
        }),
    }
}
