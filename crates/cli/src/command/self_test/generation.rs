//! A short generation on the device and on the processor: the tokens that both choose, and the
//! logits of one text.
//!
//! Both take the exact path, where the two compute the same formula: then only rounding parts
//! them. The default path is measured beside it and judged by nobody, for the processor rounds
//! activations there and a GPU does not.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use minfer_conformance::tiny_file;
use minfer_engine::{DeviceChoice, Engine, EngineOptions, Params, Piece, Request};
use minfer_gguf::File;
use minfer_models::arch::ARCHITECTURES;
use minfer_quant::Quant;
use serde::Serialize;

use super::super::logprob::Row;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::hub;
use crate::output::{Style, rounded};

/// Tokens that are generated.
const TOKENS: usize = 24;
/// Length of a tiny model's prompt: more than the few rows that have kernels of their own.
const PROMPT: u32 = 40;
/// The prompt of a model that knows words.
const TEXT: &str = "The quick brown fox jumps over the lazy dog. Once upon a time there was a \
                    small village by the sea, where every morning";
/// Largest difference of logits on the exact path, as a share of the largest logit.
const TOLERANCE: f64 = 1e-3;

#[derive(Serialize)]
pub struct Comparison {
    model: String,
    /// Tokens up to the first that both choose differently; near ties may part them.
    tokens_alike: usize,
    tokens: usize,
    exact: Option<Differences>,
    default: Option<Differences>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How the logits of one text differ.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Differences {
    positions: usize,
    /// Largest difference, as a share of the largest logit.
    largest: f64,
    mean_kl: f64,
    /// Positions whose most probable token is the same.
    same_top: usize,
}

/// Where a model comes from.
enum Source {
    Tiny(&'static str),
    File(PathBuf),
}

/// A tiny model of each architecture, and the model of -m where one is given.
pub fn all(settings: &Settings, options: &EngineOptions, style: Style) -> Vec<Comparison> {
    let mut sources: Vec<Source> =
        ARCHITECTURES.iter().map(|architecture| Source::Tiny(architecture.name)).collect();
    let mut comparisons = Vec::new();
    if settings.is_given(&table::MODEL) {
        match hub::locate(settings, style) {
            Ok(path) => sources.push(Source::File(path)),
            Err(error) => comparisons.push(Comparison::failed("-m", &error)),
        }
    }
    let progress = style.steps("models", sources.len() as u64);
    for (done, source) in sources.iter().enumerate() {
        progress.at(done as u64);
        let compared = compare(source, options);
        comparisons
            .push(compared.unwrap_or_else(|error| Comparison::failed(&source.name(), &error)));
    }
    comparisons
}

impl Source {
    fn name(&self) -> String {
        match self {
            Source::Tiny(architecture) => format!("tiny {architecture}"),
            Source::File(path) => path.display().to_string(),
        }
    }

    fn load(&self, options: EngineOptions) -> Result<Engine> {
        Ok(match self {
            Source::Tiny(architecture) => {
                let bytes = tiny_file(architecture, Quant::Q8_0);
                Engine::from_file(File::from_bytes(bytes)?, options)?
            }
            Source::File(path) => Engine::load(path, options)?,
        })
    }

    fn prompt(&self, engine: &Engine) -> Result<Vec<u32>> {
        Ok(match self {
            Source::Tiny(_) => (0..PROMPT).map(|i| 3 + i * 7 % 280).collect(),
            Source::File(_) => engine.encode(&[Piece { text: TEXT, trusted: false }])?,
        })
    }
}

fn compare(source: &Source, options: &EngineOptions) -> Result<Comparison> {
    let with = |device: DeviceChoice, exact: bool| {
        let context = Some(256);
        let options = EngineOptions { device, exact, context, sequences: 1, ..options.clone() };
        source.load(options).with_context(|| format!("on {device}"))
    };
    let device = options.device;
    let mut host = with(DeviceChoice::Cpu, true)?;
    let prompt = source.prompt(&host)?;
    let expected = generate(&mut host, &prompt)?;
    let mut text = prompt.clone();
    text.extend(&expected);
    let right = score(&mut host, &text)?;
    drop(host);
    let mut tested = with(device, true)?;
    let found = generate(&mut tested, &prompt)?;
    let exact = differences(&right, &score(&mut tested, &text)?);
    drop(tested);
    let default = differences(&right, &score(&mut with(device, false)?, &text)?);
    let alike = expected.iter().zip(&found).take_while(|(a, b)| a == b).count();
    Ok(Comparison {
        model: source.name(),
        tokens_alike: alike,
        tokens: expected.len(),
        exact: Some(exact),
        default: Some(default),
        error: None,
    })
}

fn generate(engine: &mut Engine, prompt: &[u32]) -> Result<Vec<u32>> {
    let request = Request {
        prompt: prompt.to_vec(),
        sampling: Params::greedy(),
        max_tokens: Some(TOKENS),
        ignore_eos: true,
        ..Request::default()
    };
    Ok(engine.generate(request, &mut |_| {})?.tokens)
}

fn score(engine: &mut Engine, text: &[u32]) -> Result<Vec<Vec<f32>>> {
    let mut rows = Vec::with_capacity(text.len());
    engine.score(text, 0, &mut |_, logits| rows.push(logits.to_vec()))?;
    Ok(rows)
}

fn differences(expected: &[Vec<f32>], found: &[Vec<f32>]) -> Differences {
    let mut result = Differences { positions: expected.len(), ..Differences::default() };
    for (expected, found) in expected.iter().zip(found) {
        let largest = expected.iter().fold(0.0_f32, |most, logit| most.max(logit.abs()));
        let apart = expected.iter().zip(found).fold(0.0_f32, |most, (a, b)| {
            // A NaN counts as endlessly far.
            if (a - b).is_nan() { f32::INFINITY } else { most.max((a - b).abs()) }
        });
        result.largest = result.largest.max(f64::from(apart) / f64::from(largest));
        let (expected, found) = (Row::new(expected), Row::new(found));
        result.mean_kl += expected.divergence(&found) / result.positions as f64;
        result.same_top += usize::from(expected.best() == found.best());
    }
    result.largest = rounded(result.largest);
    result.mean_kl = rounded(result.mean_kl);
    result
}

impl Comparison {
    fn failed(model: &str, error: &anyhow::Error) -> Comparison {
        let error = Some(format!("{error:#}"));
        let model = model.to_owned();
        Comparison { model, tokens_alike: 0, tokens: 0, exact: None, default: None, error }
    }

    pub fn failure(&self) -> Option<String> {
        if let Some(error) = &self.error {
            return Some(format!("{}: {error}", self.model));
        }
        // Not within, so that a NaN is a failure too.
        let within = self.exact.is_some_and(|exact| exact.largest <= TOLERANCE);
        (!within).then(|| {
            let largest = self.exact.unwrap_or_default().largest;
            let model = &self.model;
            format!("{model}: logits differ by {largest:.3e} of the largest, over {TOLERANCE:.0e}")
        })
    }

    pub fn text(&self) -> String {
        let (Some(exact), Some(default)) = (self.exact, self.default) else {
            return format!("{}: {}", self.model, self.error.as_deref().unwrap_or_default());
        };
        format!(
            "{}: {} of {} tokens as on the processor; logits differ by {:.1e} (exact), {:.1e} \
             (default, mean KL {:.1e})",
            self.model,
            self.tokens_alike,
            self.tokens,
            exact.largest,
            default.largest,
            default.mean_kl
        )
    }
}

#[cfg(test)]
#[path = "generation_tests.rs"]
mod tests;
