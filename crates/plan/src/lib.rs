//! From a [`Graph`](minfer_graph::Graph) to a [`Program`]: which device runs what, with which
//! kernel, in which memory; and the contract that every device keeps.
//!
//! [`plan`] runs the passes in a fixed order: place nodes on targets, choose operand types,
//! decompose what a target cannot run, fuse what it can run better, lower every node to a
//! [`Launch`], split at target borders and lay out memory. All of it is pure: a [`Target`] is a
//! plain value, so a program for any machine is made, printed and tested on any machine. [`Runner`]
//! carries out a program on [`Device`]s.
//!
//! What this crate does not know: models, files, text, and any particular device.

mod bucket;
mod decompose;
mod device;
mod dump;
mod error;
mod fuse;
mod inputs;
mod launch;
mod memory;
mod operands;
mod place;
mod program;
mod runner;
mod split;
mod work;

pub use bucket::{Bucket, Buckets};
pub use decompose::{Refusal, refusals};
pub use device::{
    Caps, Choice, Device, DeviceKind, Done, IN_FLIGHT, KernelInfo, LaunchTime, Limit, LoadedSplit,
    Owed, PlacedState, PlacedValue, PlacedWeight, Pools, Region, StateHandle, StepRun, Steps, Stop,
    Target, Ticket, Trail,
};
pub use error::{DeviceError, Error, InputError};
pub use fuse::{FUSIONS, Fusion};
pub use inputs::{Bounds, GroupInputs, Inputs, TokenInput};
pub use launch::{Io, Launch, Layout, Unsupported};
pub use memory::{Memory, Place};
pub use place::{Placement, TargetId};
pub use program::{Note, Options, Planned, Program, Split, Step, plan, single_split};
pub use runner::{RunTicket, Runner, StepOutputs};
pub use work::{ROW_TILE, SequenceRows, attention_work, work_capacity};
