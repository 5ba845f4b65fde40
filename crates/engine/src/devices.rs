//! Which devices this build has; the one place that knows.
//!
//! `Auto` takes the first that is there, in the order Metal, CUDA, CPU. A device that was named and
//! is not there is an error: work never moves to another device on its own.

use std::fmt;
use std::str::FromStr;

use minfer_backend_cpu::{Cpu, CpuOptions};
use minfer_plan::Device;
use minfer_reference::{Mode, Reference};

use crate::error::Error;

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
    ("cuda", DeviceChoice::Cuda),
];

/// Devices of this build.
const BUILT: &[DeviceChoice] =
    &[DeviceChoice::Cpu, DeviceChoice::Reference, DeviceChoice::ReferenceF64];

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
    let opened = BUILT.iter().filter_map(|choice| Some((*choice, open(*choice, threads).ok()?)));
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

/// Opens the devices of a choice: the one that was asked for, and after an accelerator the CPU that
/// takes the layers which do not go there.
pub fn open(choice: DeviceChoice, threads: usize) -> Result<Vec<Box<dyn Device>>, Error> {
    match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(vec![cpu(threads)?]),
        DeviceChoice::Reference => Ok(vec![Box::new(Reference::new(Mode::Canonical))]),
        DeviceChoice::ReferenceF64 => Ok(vec![Box::new(Reference::new(Mode::F64))]),
        DeviceChoice::Metal | DeviceChoice::Cuda => Err(Error::Device {
            name: choice.name().into(),
            known: BUILT.iter().map(|choice| choice.name()).collect(),
        }),
    }
}

fn cpu(threads: usize) -> Result<Box<dyn Device>, Error> {
    Ok(Box::new(Cpu::new(CpuOptions { threads, isa: None })?))
}
