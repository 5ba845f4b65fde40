//! What a kernel is launched with.
//!
//! Metal binds buffers from an offset to their end; here every binding has a length, so that an
//! overrun into what lies behind it is seen.

use std::sync::Arc;

use crate::library::Kernel;
use crate::memory::Memory;

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Binding {
    /// A slice of memory.
    Buffer {
        /// Of the argument: `[[buffer(index)]]`.
        index: u32,
        /// Where it lies.
        memory: Arc<Memory>,
        /// First byte of the slice.
        offset: usize,
        /// Bytes of the slice.
        length: usize,
    },
    /// A copy of these bytes, as `setBytes` makes it.
    Bytes {
        /// Of the argument: `[[buffer(index)]]`.
        index: u32,
        /// What to copy.
        bytes: Vec<u8>,
    },
}

impl Binding {
    /// All of some memory.
    pub fn whole(index: u32, memory: &Arc<Memory>) -> Binding {
        Binding::Buffer { index, memory: Arc::clone(memory), offset: 0, length: memory.len() }
    }

    /// Of the argument.
    pub fn index(&self) -> u32 {
        match self {
            Binding::Buffer { index, .. } | Binding::Bytes { index, .. } => *index,
        }
    }
}

/// How many threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// This many threadgroups, all of one size.
    Threadgroups([u32; 3]),
    /// This many threads; the threadgroups at the edge are smaller.
    Threads([u32; 3]),
}

/// A kernel with its arguments and its grid.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What runs.
    pub kernel: Kernel,
    /// Its buffers.
    pub bindings: Vec<Binding>,
    /// Index and bytes of each `[[threadgroup(index)]]` argument.
    pub threadgroup_memory: Vec<(u32, usize)>,
    /// How many threads.
    pub grid: Grid,
    /// How many of them form a threadgroup.
    pub threads_per_threadgroup: [u32; 3],
}
