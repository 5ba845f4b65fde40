//! What launches move: the cost of a kernel that no machine has a part in.
//!
//! A line is 64 bytes, the unit in which a GPU's memory is fetched. What counts against a bound is
//! `lines`: each line of a launch once, as a perfect cache would have it. The re-read factor says
//! how much the kernel relies on one.

/// Bytes of a line.
pub const LINE: usize = 64;

/// What one launch read and wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The kernel's name.
    pub kernel: String,
    /// By buffer, in the order of the kernel's parameters.
    pub buffers: Vec<BufferTraffic>,
    /// Bytes read from threadgroup memory.
    pub threadgroup_read: u64,
    /// Bytes written to threadgroup memory.
    pub threadgroup_written: u64,
}

/// What one launch read from and wrote to one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferTraffic {
    /// `[[buffer(index)]]`
    pub index: u32,
    /// The parameter's name.
    pub name: String,
    /// Bytes of all loads.
    pub read: u64,
    /// Bytes of all stores.
    pub written: u64,
    /// Distinct lines loaded from.
    pub lines_read: u64,
    /// Distinct lines stored to.
    pub lines_written: u64,
    /// Lines of `lines_read` of which some threadgroup loaded every byte.
    pub lines_full: u64,
    /// Loads and stores of whole simdgroups: one for each instruction that its lanes execute.
    pub accesses: u64,
    /// Lines that these touched, each counted once an access.
    pub access_lines: u64,
    /// Lines that they would have touched with their bytes side by side.
    pub access_lines_least: u64,
}

impl Traffic {
    /// Bytes of all distinct lines, loaded or stored.
    pub fn bytes(&self) -> u64 {
        let lines = self.buffers.iter().map(|one| one.lines_read + one.lines_written);
        lines.sum::<u64>() * LINE as u64
    }
}

impl BufferTraffic {
    /// Loads, as a multiple of the distinct lines that they are from.
    pub fn reread(&self) -> f64 {
        self.read as f64 / (self.lines_read * LINE as u64).max(1) as f64
    }

    /// How well the lanes of a simdgroup share lines: 1 is best.
    pub fn coalescing(&self) -> f64 {
        self.access_lines_least as f64 / self.access_lines.max(1) as f64
    }
}
