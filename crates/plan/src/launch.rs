//! What a target answers to "can you run this op, and how?".

use minfer_graph::{Tables, TensorType, WeightId};

/// How a device keeps a weight. It is part of what `lower` sees, so prefill and decode read the
/// same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Layout {
    /// As in the file, read in place or copied.
    #[default]
    File,
    /// Blocks of `rows` rows interleaved in the device's named way.
    Interleaved {
        /// Name of the interleaving, for dumps.
        name: &'static str,
        /// Rows in one interleaved group.
        rows: usize,
    },
}

impl Layout {
    /// Name in dumps.
    pub fn name(self) -> &'static str {
        match self {
            Layout::File => "file",
            Layout::Interleaved { name, .. } => name,
        }
    }
}

/// The operands of an op as a target sees them.
#[derive(Clone, Copy, Debug)]
pub struct Io<'a> {
    /// Types of the operands.
    pub inputs: &'a [TensorType],
    /// Types of the results.
    pub outputs: &'a [TensorType],
    /// Weights, state and the step's shape.
    pub tables: &'a Tables,
    /// Layouts of the model's weights, by [`WeightId`]; an empty list means the file's everywhere.
    pub layouts: &'a [Layout],
}

impl Io<'_> {
    /// Layout of a weight.
    pub fn layout(&self, id: WeightId) -> Layout {
        self.layouts.get(id.0 as usize).copied().unwrap_or_default()
    }
}

/// One kernel launch: everything about it that does not change from step to step.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// Kernel, with the types that select it, such as `matmul.q4_1.q8_0`.
    pub kernel: String,
    /// Why this kernel: the row of the variants table that applied.
    pub why: &'static str,
    /// Work groups, for devices that launch grids; `[1, 1, 1]` elsewhere.
    pub grid: [u32; 3],
    /// Threads of a work group.
    pub group: [u32; 3],
    /// Scratch memory in bytes; planned like a value that lives for this launch.
    pub scratch: usize,
    /// The kernel's argument struct, as bytes; empty where a device reads the op itself.
    pub args: Vec<u8>,
}

impl Launch {
    /// A launch for a device without grids.
    pub fn simple(kernel: impl Into<String>, why: &'static str) -> Launch {
        Launch {
            kernel: kernel.into(),
            why,
            grid: [1; 3],
            group: [1; 3],
            scratch: 0,
            args: Vec::new(),
        }
    }

    /// The same launch with scratch memory.
    pub fn with_scratch(self, scratch: usize) -> Launch {
        Launch { scratch, ..self }
    }
}

/// A target cannot run an op on these operands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unsupported {
    /// Why, with the numbers.
    pub reason: String,
}

impl Unsupported {
    /// For a reason that is a sentence.
    pub fn because(reason: impl Into<String>) -> Unsupported {
        Unsupported { reason: reason.into() }
    }
}
