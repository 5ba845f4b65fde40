//! What the host decides about the device; plain values, like all that planning needs.

use std::time::Duration;

use crate::caps::Staging;
use crate::tune::Tune;

/// Settings of an Apple GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
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
        }
    }
}
