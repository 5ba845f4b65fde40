//! What is being tested: the machine, its system, the device, and this build.

use std::fs;

use minfer_engine::{DeviceChoice, EngineOptions};
use minfer_plan::{Device, DeviceKind};
use serde::Serialize;

use crate::hub::peak;
use crate::output::rounded;

#[derive(Default, Serialize)]
pub struct Machine {
    pub minfer: &'static str,
    pub system: String,
    pub architecture: &'static str,
    pub processor: String,
    pub threads: usize,
    /// Which device was asked for.
    pub choice: &'static str,
    pub device: String,
    pub kind: &'static str,
    pub features: String,
    pub memory_bytes: Option<u64>,
    pub value_alignment: usize,
    pub batch_invariant: bool,
    /// What the device's memory is said to give, or what `devices --measure` found.
    pub bytes_per_second: Option<f64>,
}

impl Machine {
    pub fn of(device: &dyn Device, options: &EngineOptions) -> Machine {
        let caps = device.target().caps();
        let there = minfer_engine::available(options.threads);
        let processor = there.into_iter().find(|device| device.choice == DeviceChoice::Cpu);
        let host = matches!(caps.kind, DeviceKind::Cpu | DeviceKind::Reference);
        let measured = if host { peak::bytes_per_second() } else { None };
        Machine {
            minfer: env!("CARGO_PKG_VERSION"),
            system: system(),
            architecture: std::env::consts::ARCH,
            processor: processor.map(|device| device.name).unwrap_or_default(),
            threads: options.threads,
            choice: options.device.name(),
            device: caps.name.clone(),
            kind: caps.kind.name(),
            features: caps.features.clone(),
            memory_bytes: caps.memory_bytes,
            value_alignment: caps.value_alignment,
            batch_invariant: caps.batch_invariant,
            bytes_per_second: caps.bytes_per_second.or(measured).map(rounded),
        }
    }

    pub fn text(&self) -> String {
        format!(
            "minfer {} on {} ({}), {}\ndevice: {} ({})",
            self.minfer, self.system, self.architecture, self.processor, self.device, self.kind
        )
    }
}

/// Name and version of the operating system.
fn system() -> String {
    let apple = fs::read_to_string("/System/Library/CoreServices/SystemVersion.plist");
    if let Some(version) = apple.ok().as_deref().and_then(product_version) {
        return format!("macOS {version}");
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    match pretty_name(&release) {
        Some(name) => name.to_owned(),
        None => std::env::consts::OS.to_owned(),
    }
}

/// The version in Apple's property list.
fn product_version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<key>ProductVersion</key>")?;
    let (_, rest) = rest.split_once("<string>")?;
    rest.split_once("</string>").map(|(version, _)| version.trim())
}

/// The name in a file of os-release(5).
fn pretty_name(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches('"'))
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
