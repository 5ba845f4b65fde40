//! The device's own memory and threads: the only places beside `simd/` with unsafe code.
//!
//! What the safe surface promises:
//! * [`Buffer`] owns zeroed memory, aligned to 64 bytes; memory that nobody touches costs nothing.
//! * [`Arena`] lends out parts of one buffer. It refuses ranges that overlap, so that a kernel
//!   never holds a shared and an exclusive view of the same bytes.
//! * [`Grid`] cuts an output into rectangles. Each task gets one of them, and no two tasks the
//!   same, so that threads write one matrix without locks.
//! * [`Pool`] runs the tasks of a launch on its threads and returns when all have left it; what a
//!   task borrows therefore outlives it. A task that panics stops the launch, not the process.

mod arena;
mod buffer;
mod grid;
mod pool;

pub(crate) use arena::{Arena, MAX_VIEWS, Read, Views};
pub(crate) use buffer::Buffer;
pub(crate) use grid::{Cuts, Grid, Rectangle};
pub(crate) use pool::{Fault, Pool, Workers};
