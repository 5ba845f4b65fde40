//! What the host decides about the device; plain values, like all that planning needs.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::caps::Staging;
use crate::tune::Tune;

/// Settings of an Apple GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct MetalOptions {
    /// How many-row matmuls keep their operands.
    pub staging: Staging,
    /// Choices between variants of kernels.
    pub tune: Tune,
    /// How long a command buffer may take before it is given up.
    pub deadline: Duration,
    /// Estimated work of a command buffer of a prompt at most: a long one freezes the display.
    pub command_buffer: Duration,
    /// Whether weights are copied rather than read where the file is mapped.
    pub copy_weights: bool,
    /// Whether the weights are read once when they are registered, so that the first prompt does
    /// not wait for the disk.
    pub warm_up: bool,
    /// A library that has the kernels, in place of this program's.
    pub metallib: Option<Metallib>,
    /// Where a trace of the first request is written to.
    pub capture: Option<PathBuf>,
}

impl Default for MetalOptions {
    fn default() -> MetalOptions {
        MetalOptions {
            staging: Staging::default(),
            tune: Tune::default(),
            deadline: Duration::from_secs(10),
            command_buffer: Duration::from_millis(50),
            copy_weights: false,
            warm_up: true,
            metallib: None,
            capture: None,
        }
    }
}

/// A precompiled library.
#[derive(Clone, PartialEq, Eq)]
pub struct Metallib {
    /// What messages call it: its file.
    pub name: String,
    /// The file's bytes.
    pub bytes: Cow<'static, [u8]>,
}

impl Metallib {
    /// The one that was made when this program was built.
    #[cfg(all(feature = "device", precompiled))]
    pub(crate) fn embedded() -> Option<Metallib> {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/minfer.metallib"));
        let name = "the precompiled library".to_owned();
        Some(Metallib { name, bytes: Cow::Borrowed(bytes) })
    }

    /// None: Apple's tools were not there when this program was built.
    #[cfg(all(feature = "device", not(precompiled)))]
    pub(crate) fn embedded() -> Option<Metallib> {
        None
    }
}

impl fmt::Debug for Metallib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Metallib({}, {} bytes)", self.name, self.bytes.len())
    }
}
