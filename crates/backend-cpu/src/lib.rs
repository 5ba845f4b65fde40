//! The CPU device: kernels with run-time dispatch, thread pool, arena.
//!
//! [`CpuTarget`] is the device as the planner sees it, a plain value that plans on any machine.
//! [`Cpu`] runs what was planned: weights are read in place from the mapped file, values lie in one
//! arena, KV pages in pools that take memory as they are used. Work happens in `wait`, launch by
//! launch; each launch is shared out among the threads.
//!
//! `kernels/` has one file per op, `kernels/quant/` one per weight format. They are safe code over
//! `simd/` (inner loops for each instruction set) and `sys/` (threads, memory). Every kernel gives
//! the bits that docs/numerics.md states, whatever the instruction set, the number of threads and
//! the shape of the step.
//!
//! What this crate does not know: models, files, text, other devices.

mod call;
mod device;
mod kernels;
mod prepare;
mod product;
mod rotation;
mod simd;
mod state;
mod sys;
mod target;
mod weights;

pub use device::{Cpu, CpuOptions};
pub use simd::Isa;
pub use target::CpuTarget;
