//! Model files of random weights: the shapes of real models, for measurements where those models
//! cannot be had.
//!
//! A file is valid in every respect and says nothing of sense. It is a function of shape, mix,
//! vocabulary and seed alone.

mod mix;
mod pool;
mod shape;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::io::Write;

use anyhow::{Context as _, Result, ensure};
use minfer_conformance::Seeded;
use minfer_gguf::{File, Writer};
use minfer_models::TensorShape;
use minfer_quant::Quant;

pub use mix::{MIXES, Mix};
use pool::Pools;
pub use shape::{SHAPES, Shape};

/// What to write.
#[derive(Debug)]
pub struct Recipe<'a> {
    /// The model's shape.
    pub shape: &'static Shape,
    /// Formats of its weights.
    pub mix: &'static Mix,
    /// Layers, where not the shape's.
    pub layers: Option<usize>,
    /// The file to take the vocabulary from.
    pub tokenizer: Option<&'a File>,
    /// Seed of the weights.
    pub seed: u64,
    /// Threads that make random blocks.
    pub threads: usize,
}

/// A tensor with its format and the spread of its values.
#[derive(Debug)]
struct Planned {
    tensor: TensorShape,
    quant: Quant,
    spread: Spread,
}

impl Planned {
    fn bytes(&self) -> u64 {
        let values: u64 = self.tensor.dims.iter().product();
        values / self.quant.block_len() as u64 * self.quant.block_bytes() as u64
    }
}

/// How a tensor's values are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spread {
    /// Bell-shaped around a middle.
    Bell { middle: f32, deviation: f32 },
    /// llama3's factors of rotary frequencies.
    RopeFactors { base: f64 },
}

/// Bytes of all tensors of a recipe; the file has some more for its vocabulary.
///
/// # Errors
/// A shape that the mix cannot hold.
pub fn bytes(recipe: &Recipe<'_>) -> Result<u64> {
    let planned = plan(recipe, &recipe.shape.blueprint(recipe.layers)?)?;
    Ok(planned.iter().map(Planned::bytes).sum())
}

/// Writes a model; `progress` gets the bytes so far. Gives the bytes of all tensors.
///
/// # Errors
/// A shape that the mix cannot hold, a vocabulary that does not fit, or an output that fails.
pub fn write(recipe: &Recipe<'_>, out: impl Write, progress: &dyn Fn(u64)) -> Result<u64> {
    let blueprint = recipe.shape.blueprint(recipe.layers)?;
    let planned = plan(recipe, &blueprint)?;
    let pools = Pools::make(
        planned.iter().map(|tensor| (tensor.quant, tensor.spread)),
        recipe.seed,
        recipe.threads,
    )?;
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata() {
        writer = writer.kv(key, value);
    }
    let name = format!("synthetic {} (random weights)", recipe.shape.name);
    writer = writer
        .kv("general.type", "model")
        .kv("general.name", name)
        .kv("general.file_type", recipe.mix.file_type)
        .kv("general.quantization_version", 2_u32);
    for (key, value) in vocabulary::metadata(blueprint.config.vocabulary, recipe.tokenizer)? {
        writer = writer.kv(key, value);
    }
    let mut total = 0;
    for (index, planned) in planned.into_iter().enumerate() {
        let bytes = planned.bytes();
        let Planned { tensor, quant, spread } = planned;
        let (seed, before) = (Seeded::new(recipe.seed ^ index as u64).bits(), total);
        total += bytes;
        let pools = &pools;
        writer = writer.tensor_with(tensor.name, quant, tensor.dims, move |out| {
            pools.fill(quant, spread, bytes, seed, out, &|done| progress(before + done))
        });
    }
    writer.write_to(out).context("writing the model")?;
    Ok(total)
}

/// The tensors in file order.
fn plan(recipe: &Recipe<'_>, blueprint: &minfer_models::Blueprint) -> Result<Vec<Planned>> {
    let config = &blueprint.config;
    let mut planned = Vec::new();
    for tensor in blueprint.tensors()? {
        let quant = recipe.mix.quant(&tensor, config.layers, blueprint.tied)?;
        let spread = spread(&tensor, config.embedding, blueprint.tied);
        planned.push(Planned { tensor, quant, spread });
    }
    if recipe.shape.rope_factors {
        let pairs = config.rope_dims as u64 / 2;
        let tensor = TensorShape { name: "rope_freqs.weight".into(), dims: vec![pairs] };
        let spread = Spread::RopeFactors { base: config.rope_base };
        planned.push(Planned { tensor, quant: Quant::F32, spread });
    }
    ensure!(!planned.is_empty(), "{}: the shape has no tensors", recipe.shape.name);
    Ok(planned)
}

/// Matrices keep the size of what they are applied to; the head makes logits of about 3, so that
/// greedy choices are seldom near ties.
fn spread(tensor: &TensorShape, embedding: usize, tied: bool) -> Spread {
    let (name, columns) = (tensor.name.as_str(), tensor.dims[0] as f32);
    let bell = |middle, deviation| Spread::Bell { middle, deviation };
    match name {
        _ if name.ends_with(".bias") => bell(0.0, 0.1),
        _ if tensor.dims.len() == 1 => bell(1.0, 0.06),
        "output.weight" => bell(0.0, 3.0 / (embedding as f32).sqrt()),
        "token_embd.weight" if tied => bell(0.0, 3.0 / (embedding as f32).sqrt()),
        "token_embd.weight" => bell(0.0, 0.05),
        _matrix => bell(0.0, 1.0 / columns.sqrt()),
    }
}
