//! The Metal device: its kernels, and how ops are lowered to launches of them.
//!
//! Everything here is plain values, so that programs for any Apple GPU are planned, printed and
//! tested on any machine. [`MetalTarget`] answers the planner; [`dispatches`] gives the launches of
//! an op with what is bound to each; [`modules`] gives the source that holds their kernels.
//! `kernels/` has the `.metal` files, `kernels/quant/` one decoder for each weight format, which
//! every kernel that reads weights is instantiated with.
//!
//! Activations stay f32 and are never quantized: there is no 8-bit matrix path in the language, and
//! more than 99 % of a decode step's traffic is weights.
//!
//! What this crate does not know: models, files, text, other devices.

mod arguments;
mod caps;
#[cfg(feature = "device")]
mod device;
mod dispatch;
pub mod hazards;
mod instances;
mod kernels;
mod options;
pub mod pieces;
mod source;
pub mod spans;
#[cfg(feature = "device")]
mod sys;
mod target;
mod tune;

pub use caps::{Limits, Staging};
#[cfg(feature = "device")]
pub use device::Metal;
pub use dispatch::{Dispatch, Grid, Slot};
pub use kernels::dispatches;
pub use options::{MetalOptions, Metallib};
pub use source::{Module, modules};
pub use target::MetalTarget;
pub use tune::{Tune, TuneError};
