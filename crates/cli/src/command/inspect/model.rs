//! `inspect --stage model`: the hyper-parameters as they were understood, what the model takes of
//! memory, and its weights.

use std::collections::BTreeMap;

use anyhow::Result;
use minfer_engine::Engine;
use minfer_graph::WeightDecl;
use minfer_models::{Config, Scaling};
use serde_json::{Value, json};

use crate::hub::repository::size;

/// For people.
///
/// # Errors
/// The memory cannot be planned.
pub fn text(engine: &mut Engine) -> Result<String> {
    let memory = engine.memory()?;
    let (config, weights) = (engine.model().config(), engine.model().weights());
    let mut text = String::new();
    let mut line = |name: &str, value: String| text += &format!("{name:<13} {value}\n");
    line("architecture", config.architecture.to_owned());
    line("layers", config.layers.to_string());
    line("width", format!("{}, inside the feed-forward {}", config.embedding, config.feed_forward));
    line(
        "heads",
        format!(
            "{} of queries, {} of keys and values, {} wide",
            config.heads, config.kv_heads, config.head_dim
        ),
    );
    line("context", format!("{} trained, {} here", config.context, memory.context));
    line("vocabulary", format!("{} tokens", config.vocabulary));
    line("norm", format!("RMS, epsilon {:e}", config.eps));
    line("rope", rope(config));
    line("window", window(config));
    line("experts", experts(config));
    line("formats", formats(weights));
    line("placement", memory.placement.clone());
    for device in &memory.devices {
        line(
            "memory",
            format!(
                "{} ({}), {} layers: weights {}, cache {}, arena {}",
                device.kind.name(),
                device.name,
                device.layers,
                size(device.weights_bytes),
                size(device.kv_bytes),
                size(device.arena_bytes)
            ),
        );
    }
    text += "\nweights:\n";
    for weight in weights.iter() {
        let (name, quant) = (&weight.name, weight.quant.name());
        let experts =
            if weight.experts > 1 { format!("{} × ", weight.experts) } else { String::new() };
        text += &format!("  {name:<40} {quant:<7} {experts}{} × {}\n", weight.rows, weight.cols);
    }
    Ok(text)
}

fn rope(config: &Config) -> String {
    let stretched = match &config.scaling {
        Scaling::None => "not stretched".to_owned(),
        Scaling::Linear { factor } => format!("all frequencies divided by {factor}"),
        Scaling::Factors(factors) => {
            let (least, most) = factors
                .iter()
                .fold((f32::MAX, 0.0_f32), |(least, most), &f| (least.min(f), most.max(f)));
            format!("each frequency divided by its own factor, {least} to {most}")
        }
        Scaling::Yarn { factor, original_context, .. } => {
            format!("yarn, stretched {factor} times from a context of {original_context}")
        }
    };
    let (turned, all, base) = (config.rope_dims, config.head_dim, config.rope_base);
    format!("{turned} of {all} elements of a head, base {base}, {stretched}")
}

fn window(config: &Config) -> String {
    match config.window {
        None => "none".to_owned(),
        Some(window) => format!(
            "{} positions, rope base {}; none in every {}. layer",
            window.size, window.rope_base, window.period
        ),
    }
}

fn experts(config: &Config) -> String {
    match config.experts {
        None => "none".to_owned(),
        Some(experts) => format!(
            "{} in a layer, {} for a token, {} wide",
            experts.count, experts.used, experts.width
        ),
    }
}

/// The formats of the weights, the one with the most bytes first.
fn formats(weights: &[WeightDecl]) -> String {
    let mut found: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for weight in weights {
        let (count, bytes) = found.entry(weight.quant.name()).or_default();
        *count += 1;
        *bytes += weight.bytes() as u64;
    }
    let mut found: Vec<(&str, (usize, u64))> = found.into_iter().collect();
    found.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let told = found
        .iter()
        .map(|(name, (count, bytes))| format!("{name} {count} weights of {}", size(*bytes)));
    told.collect::<Vec<_>>().join(", ")
}

/// For programs.
///
/// # Errors
/// As [`text`].
pub fn json(engine: &mut Engine) -> Result<Value> {
    let memory = engine.memory()?;
    let model = engine.model();
    let config = model.config();
    let weights = model.weights().iter().map(|weight| {
        json!({
            "name": weight.name,
            "type": weight.quant.name(),
            "experts": weight.experts,
            "rows": weight.rows,
            "cols": weight.cols,
        })
    });
    Ok(json!({
        "architecture": config.architecture,
        "context_trained": config.context,
        "context": memory.context,
        "vocabulary": config.vocabulary,
        "embedding": config.embedding,
        "layers": config.layers,
        "feed_forward": config.feed_forward,
        "heads": config.heads,
        "kv_heads": config.kv_heads,
        "head_dim": config.head_dim,
        // By way of its shortest text: the digits of f64 would be noise.
        "epsilon": config.eps.to_string().parse::<f64>()?,
        "rope_dims": config.rope_dims,
        "rope_base": config.rope_base,
        "window": config.window.map(|window| window.size),
        "experts": config.experts.map(|experts| experts.count),
        "experts_used": config.experts.map(|experts| experts.used),
        "placement": memory.placement,
        "weights_bytes": memory.weights_bytes,
        "kv_bytes": memory.kv_bytes,
        "arena_bytes": memory.arena_bytes,
        "weights": weights.collect::<Vec<_>>(),
    }))
}
