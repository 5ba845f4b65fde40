//! Sequences in, tokens out: the library API of minfer.
//!
//! [`Engine::load`] makes a model ready on its devices; [`Engine::submit`] hands it a prompt;
//! [`Engine::step`] advances every running sequence and gives out what was found. One call is one
//! step: schedule, run, postprocess. The only way back in the data's path is from a sampled token
//! to its sequence, and it is here.
//!
//! Bookkeeping ([`scheduler`], [`kv`]) is integers alone, with no model and no device, and is
//! tested so.
//!
//! Invariants:
//! - What a sequence gives depends on its request alone, never on what runs beside it, on how its
//!   prompt was cut, or on whether pages came from the prefix cache (on devices that are batch
//!   invariant).
//! - No context shift: a sequence whose context is full ends and says so.
//! - No request, file or device failure ends the process: the requests concerned fail with the
//!   reason, and the next ones run.
//!
//! Not here: chat templates, HTTP, the terminal, the environment, clocks (the engine is handed
//! one).

mod batch;
mod clock;
mod devices;
mod encode;
mod engine;
mod error;
mod event;
mod flight;
mod gate;
mod generate;
mod inspect;
pub mod kv;
mod load;
mod options;
mod programs;
mod sampling;
pub mod scheduler;
mod score;
mod sequence;
mod stats;
mod step;
mod stop;

pub use clock::{Clock, FrozenClock};
pub use devices::{DeviceChoice, DeviceSummary, available, open as open_devices};
pub use encode::Piece;
pub use engine::Engine;
pub use error::Error;
pub use event::{Completion, Event, FinishReason, SequenceStats};
pub use gate::gate;
pub use inspect::{Stage, StageDump, TracedValue};
pub use load::place;
pub use minfer_backend_metal::{MetalOptions, Metallib, Staging, Tune};
pub use minfer_graph::{KvTypes, TensorType};
pub use minfer_models::Model;
pub use minfer_plan::{Bucket, Fusion, Placement, TargetId};
pub use minfer_quant::KvType;
pub use minfer_sample::Params;
pub use minfer_sample::grammar::Grammar;
pub use options::EngineOptions;
pub use scheduler::SequenceId;
pub use sequence::{Canceller, Request};
pub use stats::{DeviceMemory, EngineStats, LogitsHash, MemoryPlan, OpProfile, WaitProfile};
