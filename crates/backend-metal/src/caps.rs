//! What an Apple GPU can hold, as values: asked of a real one at run time, literal in tests.

/// Limits of a device that launches are checked against, in `lower`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Name for people.
    pub name: String,
    /// Threads of a threadgroup.
    pub threads_per_threadgroup: u32,
    /// Bytes of threadgroup memory.
    pub threadgroup_memory: u32,
    /// Bytes of one buffer.
    pub max_buffer_length: u64,
    /// Bytes that the GPU may keep resident without paging.
    pub recommended_working_set: u64,
    /// Multiply-accumulates that it surely does in a second, and bytes that it surely reads: what
    /// command buffers are cut by. An underestimate costs a few more of them.
    pub macs_per_second: u64,
    /// See there.
    pub bytes_per_second: u64,
}

impl Limits {
    /// What every GPU of family Apple 7 (M1) and later has.
    pub fn apple7(name: impl Into<String>) -> Limits {
        Limits {
            name: name.into(),
            threads_per_threadgroup: 1024,
            threadgroup_memory: 32 << 10,
            max_buffer_length: 4 << 30,
            recommended_working_set: 5 << 30,
            // Two fifths of the peak of an M1 with seven cores, and half of its memory's.
            macs_per_second: 450_000_000_000,
            bytes_per_second: 34_000_000_000,
        }
    }
}

/// How a many-row matmul keeps its operands in threadgroup memory. Sums are f32 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Staging {
    /// Rounded to f16 (f32 and bf16 weights are kept whole): half the memory, twice the rate on
    /// most GPUs.
    #[default]
    Half,
    /// In full: the exact path.
    Full,
}
