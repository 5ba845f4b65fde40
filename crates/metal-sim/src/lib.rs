//! Runs Metal compute kernels on an ordinary processor, and finds their mistakes.
//!
//! A `.metal` source is compiled by clang with this crate's own `metal_stdlib` and executed as
//! Apple's GPUs do: threadgroups of threads in simdgroups of 32, barriers, collectives, simdgroup
//! matrices. Checked runs watch every access: bounds, races, missing barriers, divergence,
//! uninitialised memory, limits of a chosen GPU.

pub mod abi;
pub mod archive;
mod compile;
mod launch;
mod library;
mod memory;
// Apple's platforms have the real one.
#[cfg(all(feature = "objc", not(target_vendor = "apple")))]
pub mod objc;
mod place;
mod profile;
mod report;
mod run;
mod source;
mod traffic;

pub use compile::{Checked, CompileError, Compiler, Diagnostic, Note, Severity, Source};
pub use launch::{Binding, Grid, Launch};
pub use library::{
    Constant, ConstantError, Kernel, Library, LoadError, Mode, NoKernel, Parameter, ParameterKind,
};
pub use memory::{Memory, OutOfMemory};
pub use place::Place;
pub use profile::Profile;
pub use report::{Kind, Report};
pub use run::{Outcome, Simulator, Watch};
pub use source::{Fault, ParameterText, Signature, Slot};
pub use traffic::{BufferTraffic, Traffic};
