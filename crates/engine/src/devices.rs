//! Which devices this build has; the one place that knows.
//!
//! `Auto` takes the first that is there, in the order Metal, CUDA, CPU; the simulator of Metal only
//! runs where it is named. A device that was named and is not there is an error: work never moves
//! to another device on its own.

use std::fmt;
use std::str::FromStr;

use minfer_backend_cpu::{Cpu, CpuOptions};
#[cfg(feature = "metal")]
use minfer_backend_metal::{Metal, Staging, Tune, TuneError};
use minfer_plan::Device;
use minfer_reference::{Mode, Reference};

use crate::error::Error;
use crate::options::EngineOptions;

/// Where a model is to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first device that is there.
    #[default]
    Auto,
    /// The host's processor.
    Cpu,
    /// The executable definition, with the numbers of the CPU.
    Reference,
    /// The executable definition in double precision.
    ReferenceF64,
    /// An Apple GPU.
    Metal,
    /// The Metal device on a simulated Apple GPU, for tests on any machine.
    MetalSim,
    /// An NVIDIA GPU.
    Cuda,
}

/// Names that a choice can have, in the order of help texts.
const NAMES: &[(&str, DeviceChoice)] = &[
    ("auto", DeviceChoice::Auto),
    ("cpu", DeviceChoice::Cpu),
    ("reference", DeviceChoice::Reference),
    ("reference-f64", DeviceChoice::ReferenceF64),
    ("metal", DeviceChoice::Metal),
    ("metal-sim", DeviceChoice::MetalSim),
    ("cuda", DeviceChoice::Cuda),
];

/// Devices of this build, the preferred one first.
const BUILT: &[DeviceChoice] = &[
    #[cfg(all(feature = "metal", target_vendor = "apple"))]
    DeviceChoice::Metal,
    DeviceChoice::Cpu,
    DeviceChoice::Reference,
    DeviceChoice::ReferenceF64,
    #[cfg(all(feature = "metal-sim", not(target_vendor = "apple")))]
    DeviceChoice::MetalSim,
];

impl DeviceChoice {
    /// Every choice with a name.
    pub fn all() -> impl Iterator<Item = DeviceChoice> {
        NAMES.iter().map(|(_, choice)| *choice)
    }

    /// Name in flags.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, choice)| *choice == self).map_or("auto", |(name, _)| name)
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<DeviceChoice, Error> {
        let found = NAMES.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice);
        found.ok_or_else(|| Error::Device {
            name: name.into(),
            known: NAMES.iter().map(|(name, _)| *name).collect(),
        })
    }
}

/// A device that could be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSummary {
    /// The choice that opens it.
    pub choice: DeviceChoice,
    /// Its name.
    pub name: String,
    /// Instruction sets or features in use.
    pub features: String,
    /// Memory it may use, where that is not the host's.
    pub memory_bytes: Option<u64>,
    /// Worker threads.
    pub threads: usize,
}

/// The devices of this build that are there, the preferred one first.
pub fn available(threads: usize) -> Vec<DeviceSummary> {
    let opened = BUILT.iter().filter_map(|choice| {
        let options = EngineOptions { device: *choice, threads, ..EngineOptions::default() };
        Some((*choice, open(&options).ok()?))
    });
    opened
        .filter_map(|(choice, devices)| {
            let caps = devices.first()?.target().caps().clone();
            Some(DeviceSummary {
                choice,
                name: caps.name,
                features: caps.features,
                memory_bytes: caps.memory_bytes,
                threads: caps.threads,
            })
        })
        .collect()
}

/// Opens the devices of a choice: the one that was asked for and, where some layers are to stay
/// away from an accelerator, the CPU that takes them.
pub fn open(options: &EngineOptions) -> Result<Vec<Box<dyn Device>>, Error> {
    let devices = opened(options)?;
    let name = options.tune.keys().next();
    let has_choices = devices.iter().any(|device| !device.target().choices().is_empty());
    if let Some(name) = name.filter(|_| !has_choices) {
        let device = devices.first().map_or("", |device| &device.target().caps().name);
        let expected = format!("no choice, as {device} has none");
        return Err(Error::Options { option: "tune", expected, found: name.clone() });
    }
    Ok(devices)
}

fn opened(options: &EngineOptions) -> Result<Vec<Box<dyn Device>>, Error> {
    match options.device {
        DeviceChoice::Auto => match BUILT.first() {
            Some(DeviceChoice::Metal) => match metal(options) {
                Err(Error::Plan(_) | Error::Device { .. }) => Ok(vec![cpu(options)?]),
                opened => opened,
            },
            _no_accelerator => Ok(vec![cpu(options)?]),
        },
        DeviceChoice::Cpu => Ok(vec![cpu(options)?]),
        DeviceChoice::Reference => Ok(vec![Box::new(Reference::new(Mode::Canonical))]),
        DeviceChoice::ReferenceF64 => Ok(vec![Box::new(Reference::new(Mode::F64))]),
        DeviceChoice::Metal | DeviceChoice::MetalSim if BUILT.contains(&options.device) => {
            metal(options)
        }
        DeviceChoice::Metal | DeviceChoice::MetalSim | DeviceChoice::Cuda => Err(Error::Device {
            name: options.device.name().into(),
            known: BUILT.iter().map(|choice| choice.name()).collect(),
        }),
    }
}

fn cpu(options: &EngineOptions) -> Result<Box<dyn Device>, Error> {
    Ok(Box::new(Cpu::new(CpuOptions { threads: options.threads, isa: None })?))
}

/// How much longer than a GPU's a step of the simulator may take.
#[cfg(feature = "metal")]
const SIMULATED_SLOWER: u32 = 60;

#[cfg(feature = "metal")]
fn metal(options: &EngineOptions) -> Result<Vec<Box<dyn Device>>, Error> {
    #[cfg(all(feature = "metal-sim", not(target_vendor = "apple")))]
    simulate(options);
    let mut how = options.metal.clone();
    let table = options.tune.iter().map(|(name, value)| (name.as_str(), *value));
    how.tune = Tune::of(table).map_err(|TuneError { expected, found }| Error::Options {
        option: "tune",
        expected,
        found,
    })?;
    if options.exact {
        how.staging = Staging::Full;
    }
    if options.device == DeviceChoice::MetalSim {
        how.deadline = how.deadline.saturating_mul(SIMULATED_SLOWER);
    }
    let mut devices: Vec<Box<dyn Device>> = vec![Box::new(Metal::new(how)?)];
    if options.gpu_layers.is_some() {
        devices.push(cpu(options)?);
    }
    Ok(devices)
}

#[cfg(not(feature = "metal"))]
fn metal(options: &EngineOptions) -> Result<Vec<Box<dyn Device>>, Error> {
    Err(Error::Device { name: options.device.name().into(), known: Vec::new() })
}

/// Tells the simulator how the GPUs that are opened from now on behave.
#[cfg(all(feature = "metal-sim", not(target_vendor = "apple")))]
fn simulate(options: &EngineOptions) {
    use metal_sim::objc::{Settings, configure};
    use metal_sim::{Mode, Profile};
    let mode = if options.sim_checked { Mode::Checked } else { Mode::Fast };
    let profile = Profile { name: "Apple M1, simulated", ..Profile::M1 };
    configure(Settings { profile, mode, workers: options.threads, ..Settings::default() });
}
