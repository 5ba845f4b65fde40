//! How fast kernels are, and which of their variants.
//!
//! A step of several nodes and one of a single node are timed; the difference is what the further
//! nodes took, free of what a submit costs. Weights differ from node to node and are too many for
//! caches, as in a model.

mod shapes;

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use minfer_conformance::{lowered, time};
use minfer_engine::{DeviceChoice, EngineOptions};
use minfer_graph::Cost;
use minfer_plan::{Choice, Device, Target};
use serde::Serialize;

use crate::output::{Style, rounded};
use shapes::{Scale, Shape};

/// Time that one measurement goes on for; of a simulated device it would tell nothing.
fn budget(options: &EngineOptions) -> Duration {
    match options.device {
        DeviceChoice::MetalSim => Duration::ZERO,
        _real => Duration::from_millis(60),
    }
}
/// Less than this of a gain over the value in use is noise.
const GAIN: f64 = 0.03;

/// What a launch of an op takes.
#[derive(Debug, Serialize)]
pub struct Speed {
    op: &'static str,
    shape: String,
    kernel: String,
    microseconds: f64,
    gigabytes_per_second: f64,
    /// Of what the device's memory gives, where that is known.
    share_of_peak: Option<f64>,
    /// Multiply-accumulates a second, in thousand millions.
    gigamacs_per_second: f64,
}

/// What a choice's values take.
#[derive(Debug, Serialize)]
pub struct Variant {
    choice: &'static str,
    about: &'static str,
    default: u32,
    values: Vec<Timing>,
    best: u32,
}

#[derive(Debug, Serialize)]
struct Timing {
    value: u32,
    /// Time of all shapes, each as a share of its time with the default.
    relative: f64,
    /// Microseconds of each shape.
    shapes: Times,
}

/// Times every shape; the second is what failed.
pub fn measure(
    device: &mut dyn Device,
    options: &EngineOptions,
    style: Style,
    peak: Option<f64>,
) -> (Vec<Speed>, Vec<String>) {
    let mut failures = Vec::new();
    let scale = Scale::of(device);
    let shapes = shapes::all(scale);
    let progress = style.steps("speed", shapes.len() as u64);
    let mut rows = Vec::new();
    for (done, shape) in shapes.iter().enumerate() {
        progress.at(done as u64);
        match launch(device, shape, budget(options)) {
            Ok(Some((kernel, time, cost))) => {
                rows.push(Speed::new(shape, kernel, time, cost, peak))
            }
            Ok(None) => {}
            Err(error) => failures.push(format!("speed of {}: {error:#}", shape.name())),
        }
    }
    (rows, failures)
}

/// What one node of a shape takes: its kernels, its time, its cost. `None` where the device refuses
/// it.
fn launch(
    device: &mut dyn Device,
    shape: &Shape,
    budget: Duration,
) -> Result<Option<(String, Duration, Cost)>> {
    let many = shape.repeats();
    let [one, all] = [1, many].map(|nodes| shape.case(device.target(), nodes));
    let Some(one) = time(&one, device, budget)? else { return Ok(None) };
    let Some(all) = time(&all, device, budget)? else { return Ok(None) };
    let further = all.best.saturating_sub(one.best) / (many as u32 - 1);
    // Below what the clock tells, a node's share of the whole is as good.
    let time = if further.is_zero() { all.best / many as u32 } else { further };
    Ok(Some((one.kernels.join("+"), time, one.cost)))
}

impl Speed {
    fn new(shape: &Shape, kernel: String, time: Duration, cost: Cost, peak: Option<f64>) -> Speed {
        let seconds = time.as_secs_f64().max(1e-9);
        let speed = (cost.weight_bytes + cost.activation_bytes) as f64 / seconds;
        Speed {
            op: shape.op.name(),
            shape: shape.name(),
            kernel,
            microseconds: rounded(seconds * 1e6),
            gigabytes_per_second: rounded(speed / 1e9),
            share_of_peak: peak.map(|peak| rounded(speed / peak)),
            gigamacs_per_second: rounded(cost.macs as f64 / seconds / 1e9),
        }
    }
}

/// The table of `speed`.
pub fn table(rows: &[Speed]) -> String {
    let mut text = format!(
        "{:<44} {:<34} {:>10} {:>8} {:>8} {:>9}\n",
        "op", "kernel", "us", "GB/s", "of peak", "Gmac/s"
    );
    for row in rows {
        let share = row.share_of_peak;
        let share = share.map_or("-".to_owned(), |share| format!("{:.0}%", share * 100.0));
        text += &format!(
            "{:<44} {:<34} {:>10.1} {:>8.1} {share:>8} {:>9.1}\n",
            row.shape,
            row.kernel,
            row.microseconds,
            row.gigabytes_per_second,
            row.gigamacs_per_second
        );
    }
    text
}

/// Measures every value of every choice of the device; the second is what failed.
pub fn variants(options: &EngineOptions, style: Style) -> (Vec<Variant>, Vec<String>) {
    let mut failures = Vec::new();
    let mut run = || -> Result<Vec<Variant>> {
        let mut device = super::open(options)?;
        let scale = Scale::of(device.as_mut());
        let (used, choices) = (device.target(), device.target().choices());
        let total: usize = choices.iter().map(|choice| choice.values.len()).sum();
        let progress = style.steps("variants", total as u64);
        let mut done = 0;
        let mut variants = Vec::new();
        for choice in &choices {
            let mut times: Vec<(u32, Times)> = Vec::new();
            let others = choice.values.iter().copied().filter(|value| *value != choice.value);
            for value in std::iter::once(choice.value).chain(others) {
                progress.at(done);
                done += 1;
                let first = times.first().filter(|(value, _)| *value == choice.value);
                let base = first.map(|(_, times)| (used, times));
                match timing(options, choice, value, scale, base) {
                    Ok(timing) => times.push((value, timing)),
                    Err(error) => failures.push(format!("{}={value}: {error:#}", choice.name)),
                }
            }
            times.sort_by_key(|(value, _)| *value);
            variants.push(Variant::new(choice, times));
        }
        Ok(variants)
    };
    match run() {
        Ok(variants) => (variants, failures),
        Err(error) => {
            failures.push(format!("variants: {error:#}"));
            (Vec::new(), failures)
        }
    }
}

/// Microseconds of shapes.
type Times = BTreeMap<String, f64>;

/// Times of a choice's shapes with one value. Those that are launched as with the value in use take
/// as long.
fn timing(
    options: &EngineOptions,
    choice: &Choice,
    value: u32,
    scale: Scale,
    used: Option<(&dyn Target, &Times)>,
) -> Result<Times> {
    let mut options = options.clone();
    options.tune.insert(choice.name.to_owned(), value);
    let mut device = super::open(&options)?;
    let mut times = BTreeMap::new();
    for shape in shapes::of(choice.name, scale) {
        let case = shape.case(device.target(), 1);
        let alike = |target: &dyn Target| lowered(&case, device.target()) == lowered(&case, target);
        let known = used.filter(|(target, _)| alike(*target));
        if let Some(time) = known.and_then(|(_, times)| times.get(&shape.name())) {
            times.insert(shape.name(), *time);
            continue;
        }
        if let Some((_, time, _)) = launch(device.as_mut(), &shape, budget(&options))? {
            times.insert(shape.name(), rounded(time.as_secs_f64() * 1e6));
        }
    }
    Ok(times)
}

impl Variant {
    fn new(choice: &Choice, times: Vec<(u32, Times)>) -> Variant {
        let default = times.iter().find(|(value, _)| *value == choice.value);
        let default = default.map(|(_, shapes)| shapes.clone()).unwrap_or_default();
        let relative = |shapes: &Times| {
            let shares: Vec<f64> = shapes
                .iter()
                .filter_map(|(name, time)| Some(time / default.get(name).filter(|t| **t > 0.0)?))
                .collect();
            if shares.is_empty() { 1.0 } else { shares.iter().sum::<f64>() / shares.len() as f64 }
        };
        let timed = |(value, shapes): (u32, Times)| Timing {
            value,
            relative: rounded(relative(&shapes)),
            shapes,
        };
        let values: Vec<Timing> = times.into_iter().map(timed).collect();
        let fastest = values.iter().min_by(|a, b| a.relative.total_cmp(&b.relative));
        let better = fastest.filter(|fastest| fastest.relative < 1.0 - GAIN);
        let best = better.map_or(choice.value, |better| better.value);
        let (name, about, default) = (choice.name, choice.about, choice.value);
        Variant { choice: name, about, default, values, best }
    }

    pub fn text(&self) -> String {
        let values: Vec<String> = self
            .values
            .iter()
            .map(|timing| format!("{} takes {:.2}", timing.value, timing.relative))
            .collect();
        format!(
            "{}: best {}, default {} ({})",
            self.choice,
            self.best,
            self.default,
            values.join(", ")
        )
    }
}

/// The table that --tune reads.
pub fn best(variants: &[Variant]) -> BTreeMap<&'static str, u32> {
    variants.iter().map(|variant| (variant.choice, variant.best)).collect()
}

#[cfg(test)]
#[path = "speed_tests.rs"]
mod tests;
