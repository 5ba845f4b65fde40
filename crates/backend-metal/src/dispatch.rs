//! One launch of a kernel: what is bound to it, and how many threads it gets.

use std::ops::Range;

use minfer_graph::{Rows, StateId, WeightId};

/// What a kernel's buffer is bound to, always as a slice: with its offset and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Operand of the op.
    Input(usize),
    /// Result of the op.
    Output(usize),
    /// A weight.
    Weight(WeightId),
    /// The K pages of a state.
    Keys(StateId),
    /// The V pages of a state.
    Values(StateId),
    /// Bytes of the launch's scratch memory.
    Scratch(Range<usize>),
    /// Bytes that do not change from step to step.
    Constant(Vec<u8>),
    /// Nothing that the kernel reads: any buffer will do.
    Unused,
}

/// Threadgroups: `x` by the live rows, `per_group` of them to one, by `z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Threadgroups side by side.
    pub x: u32,
    /// What y counts.
    pub rows: Rows,
    /// Rows that one threadgroup takes.
    pub per_group: u32,
    /// More of them in y than rows make: how many are needed is data.
    pub spare: u32,
    /// Layers.
    pub z: u32,
}

impl Grid {
    /// `x` threadgroups for each row.
    pub fn each_row(x: usize, rows: Rows) -> Grid {
        Grid { x: x as u32, rows, per_group: 1, spare: 0, z: 1 }
    }

    /// Threadgroups for so many live rows.
    pub fn threadgroups(&self, rows: usize) -> [u32; 3] {
        [self.x, (rows as u32).div_ceil(self.per_group) + self.spare, self.z]
    }
}

/// A launch: everything about it that does not change from step to step.
///
/// Buffers are bound at their index in `buffers`, the arguments at the index after them, and the
/// number of live rows (a `uint`) at the index after these, where the kernel asks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Name of the kernel: module and formats.
    pub kernel: String,
    /// Why this kernel.
    pub why: &'static str,
    /// What is bound.
    pub buffers: Vec<Slot>,
    /// The argument struct.
    pub arguments: Vec<u8>,
    /// Threadgroups.
    pub grid: Grid,
    /// Threads of one; whole simdgroups.
    pub threads: u32,
    /// Bytes of threadgroup memory, bound at index 0.
    pub threadgroup_memory: u32,
}
