//! `minfer self-test`: whether a device computes what it should and how fast, as one file that
//! says all there is to know of a machine that nobody else has at hand.
//!
//! The file is written after each part, so that it tells how far a machine came that stopped.

mod cases;
mod generation;
mod kernels;
mod machine;
mod speed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use minfer_engine::{EngineOptions, Tune};
use minfer_plan::Device;
use serde::Serialize;
use serde_json::Value;

use super::load;
use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// Everything that is found, in the order in which it is found.
#[derive(Default, Serialize)]
struct Report {
    machine: machine::Machine,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<kernels::Kernels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<cases::Cases>,
    models: Vec<generation::Comparison>,
    speed: Vec<speed::Speed>,
    variants: Vec<speed::Variant>,
    /// The best value of each choice: what --tune reads.
    tune: BTreeMap<&'static str, u32>,
    /// Whether all parts came to their end.
    finished: bool,
    failures: Vec<String>,
}

/// The parts, in their order.
const PARTS: [&str; 5] = ["kernels", "cases", "models", "speed", "variants"];

/// What the parts work with.
struct Test<'s> {
    settings: &'s Settings,
    style: Style,
    options: EngineOptions,
    path: PathBuf,
    report: Report,
}

/// The command.
///
/// # Errors
/// The device cannot be opened, a result is wrong, or the file cannot be written.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let options = load::device_options(settings)?;
    let parts = parts(settings)?;
    let path = settings.path(&table::REPORT).unwrap_or_default();
    let machine = machine::Machine::of(open(&options)?.as_ref(), &options);
    output::line(&machine.text())?;
    let report = Report { machine, ..Report::default() };
    let mut test = Test { settings, style, options, path, report };
    test.write()?;
    for part in parts {
        test.part(part)?;
        test.write()?;
    }
    test.report.finished = true;
    test.write()?;
    let path = test.path.display();
    if test.report.failures.is_empty() {
        return output::line(&format!("passed; everything is in {path}"));
    }
    for failure in test.report.failures.iter().take(SHOWN) {
        output::note(failure);
    }
    bail!("{} failures; everything is in {path}", test.report.failures.len());
}

/// Failures that are shown; the file has all.
const SHOWN: usize = 20;

impl Test<'_> {
    fn part(&mut self, name: &str) -> Result<()> {
        let Test { settings, style, options, report, .. } = self;
        match name {
            "kernels" => {
                let (kernels, failure) = kernels::make(open(options)?.as_mut(), *style);
                output::line(&kernels.text())?;
                report.failures.extend(failure);
                report.kernels = Some(kernels);
            }
            "cases" => {
                let exact = EngineOptions { exact: true, ..options.clone() };
                let (mut exact, mut default) = (open(&exact)?, open(options)?);
                let cases = cases::run(exact.as_mut(), default.as_mut(), settings, *style)?;
                output::line(&cases.text())?;
                report.failures.extend(cases.failures());
                report.cases = Some(cases);
            }
            "models" => {
                for comparison in generation::all(settings, options, *style) {
                    output::line(&comparison.text())?;
                    report.failures.extend(comparison.failure());
                    report.models.push(comparison);
                }
            }
            "speed" => {
                let peak = report.machine.bytes_per_second;
                let mut device = open(options)?;
                let (rows, failures) = speed::measure(device.as_mut(), options, *style, peak);
                report.failures.extend(failures);
                output::print(&speed::table(&rows))?;
                report.speed = rows;
            }
            _variants => {
                let (variants, failures) = speed::variants(options, *style);
                report.failures.extend(failures);
                for variant in &variants {
                    output::line(&variant.text())?;
                }
                report.tune = speed::best(&variants);
                report.variants = variants;
            }
        }
        Ok(())
    }

    fn write(&self) -> Result<()> {
        write(&self.path, &self.report)
    }
}

/// The parts that are asked for.
fn parts(settings: &Settings) -> Result<Vec<&'static str>> {
    let text = settings.text(&table::PARTS).unwrap_or("all");
    if text == "all" {
        return Ok(PARTS.to_vec());
    }
    let find = |name: &str| {
        PARTS.iter().copied().find(|known| *known == name.trim()).ok_or_else(|| {
            let known = PARTS.join(", ");
            usage(format!("--parts: no part {name:?}; there are all, {known}"))
        })
    };
    text.split(',').map(find).collect()
}

/// The table that --tune reads: the object "tune" of a report.
///
/// # Errors
/// What is wrong with the text.
pub fn tune_of(text: &str) -> Result<BTreeMap<String, u32>, String> {
    // Where a name of the table stands: other objects of a report have the same names.
    let table = text.find("\"tune\"").unwrap_or(0);
    let line = |name: &str| {
        let at = text[table..].find(&format!("\"{name}\"")).unwrap_or(0);
        text[..table + at].matches('\n').count() + 1
    };
    let report: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(Value::Object(table)) = report.get("tune") else {
        return Err("expected an object \"tune\", as self-test writes it; found none".to_owned());
    };
    let entry = |(name, value): (&String, &Value)| {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| {
            format!("line {}: {name}: expected a number, found {value}", line(name))
        })?;
        let known = Tune::of([(name.as_str(), number)]);
        known.map_err(|error| format!("line {}: {error}", line(name)))?;
        Ok((name.clone(), number))
    };
    table.iter().map(entry).collect()
}

/// The device itself, without one that would stand by.
fn open(options: &EngineOptions) -> Result<Box<dyn Device>> {
    let devices = minfer_engine::open_devices(options)?;
    devices.into_iter().next().context("no device was opened")
}

/// Replaces the file as a whole.
fn write(path: &Path, report: &Report) -> Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
#[path = "self_test/tests.rs"]
mod tests;
