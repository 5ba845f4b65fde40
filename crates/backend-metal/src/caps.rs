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
    /// Whether host and GPU share their memory.
    pub unified_memory: bool,
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
            unified_memory: true,
        }
    }
}

/// Gigabytes a second that the memory of Apple's chips gives, by name; those that are sold with two
/// speeds under one name are not here.
const MEMORY_SPEEDS: &[(&str, f64)] = &[
    ("Apple M1", 68.25),
    ("Apple M1 Pro", 204.8),
    ("Apple M1 Max", 409.6),
    ("Apple M1 Ultra", 819.2),
    ("Apple M2", 102.4),
    ("Apple M2 Pro", 204.8),
    ("Apple M2 Max", 409.6),
    ("Apple M2 Ultra", 819.2),
    ("Apple M3", 102.4),
    ("Apple M3 Pro", 153.6),
    ("Apple M3 Ultra", 819.2),
    ("Apple M4", 120.0),
    ("Apple M4 Pro", 273.0),
    ("Apple M5", 153.6),
];

/// Bytes a second of a GPU's memory, where its name tells.
pub(crate) fn memory_speed(name: &str) -> Option<f64> {
    let row = MEMORY_SPEEDS.iter().find(|(known, _)| *known == name)?;
    Some(row.1 * 1e9)
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
