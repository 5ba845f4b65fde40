//! A launch that was found to be in order, as the cores read it.
#![expect(unsafe_code, reason = "the arguments are pointers")]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::Watch;
use super::log::Log;
use crate::abi;
use crate::launch::Grid;
use crate::library::Library;
use crate::memory::Memory;
use crate::profile::Profile;

/// How many threadgroups of which size.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Threadgroups.
    pub groups: [u32; 3],
    /// Threads of a whole threadgroup.
    pub size: [u32; 3],
    /// Threads in all.
    pub threads: [u32; 3],
}

impl Shape {
    /// The shape of a grid; none where it has no threads or more threadgroups than can be counted.
    pub fn new(grid: Grid, size: [u32; 3]) -> Option<Shape> {
        if size.contains(&0) {
            return None;
        }
        let (groups, threads) = match grid {
            Grid::Threadgroups(groups) => {
                let threads = std::array::from_fn(|axis| groups[axis].checked_mul(size[axis]));
                let [Some(x), Some(y), Some(z)] = threads else { return None };
                (groups, [x, y, z])
            }
            Grid::Threads(threads) => {
                (std::array::from_fn(|axis| threads[axis].div_ceil(size[axis])), threads)
            }
        };
        let shape = Shape { groups, size, threads };
        shape.total().filter(|&total| total > 0)?;
        Some(shape)
    }

    /// Threadgroups in all.
    pub fn total(&self) -> Option<u32> {
        let [x, y, z] = self.groups;
        x.checked_mul(y)?.checked_mul(z)
    }

    /// Position and size of a threadgroup by its number; smaller at the edge of a grid of threads.
    pub fn threadgroup(&self, serial: u32) -> ([u32; 3], [u32; 3]) {
        let [x, y, _] = self.groups.map(|side| side.max(1));
        let position = [serial % x, serial / x % y, serial / x / y];
        let size = std::array::from_fn(|axis| {
            let first = position[axis].wrapping_mul(self.size[axis]);
            self.size[axis].min(self.threads[axis].saturating_sub(first))
        });
        (position, size)
    }
}

/// A bound buffer.
#[derive(Clone, Debug)]
pub struct Slice {
    pub index: u32,
    pub memory: Arc<Memory>,
    pub offset: usize,
    pub length: usize,
    /// The kernel can write it.
    pub writable: bool,
    /// The parameter's name.
    pub name: String,
}

impl Slice {
    /// Its addresses.
    pub fn range(&self) -> Range<usize> {
        let start = self.memory.ptr() as usize + self.offset;
        start..start + self.length
    }
}

/// A launch; see above.
pub struct Dispatch {
    /// Stays loaded.
    pub library: Library,
    pub kernel: abi::Kernel,
    pub name: String,
    pub arguments: abi::Arguments,
    pub slices: Vec<Slice>,
    pub threadgroup_memory: Vec<(u32, usize)>,
    pub shape: Shape,
    pub profile: Profile,
    pub seed: u64,
    /// Rendezvous and accesses that a threadgroup may take.
    pub steps: u64,
    /// Processor time that it may take.
    pub patience: Duration,
    pub watch: Watch,
    pub log: Arc<Log>,
    /// Threadgroups that were taken up.
    pub next: AtomicU32,
    /// The launch is over.
    pub stop: AtomicBool,
}

// SAFETY: the pointers are into the library and the slices, which the value keeps alive; what
// kernels do to memory at once is theirs to order.
unsafe impl Send for Dispatch {}
// SAFETY: as above.
unsafe impl Sync for Dispatch {}

impl Dispatch {
    /// The number of a threadgroup that is still to be run. With a seed, they come in an order of
    /// their own.
    pub fn take(&self) -> Option<u32> {
        let total = self.shape.total().unwrap_or(0);
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        if turn >= total {
            self.next.store(total, Ordering::Relaxed);
            return None;
        }
        if self.seed == 0 {
            return Some(turn);
        }
        // A step that shares no factor with the total visits each once.
        let total = u64::from(total);
        let step = (self.seed % total..).find(|&step| coprime(step, total)).unwrap_or(1);
        Some(((u64::from(turn) * step + self.seed) % total) as u32)
    }
}

fn coprime(mut a: u64, mut b: u64) -> bool {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a == 1
}
