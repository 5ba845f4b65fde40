//! Architectures: from a GGUF file to a checked [`Model`], and from a model and a step's shape to a
//! graph.
//!
//! One file per architecture in `arch/`, shared blocks in `block/`. An architecture reads its
//! hyper-parameters into a typed [`Config`], lists its weights with the shapes they must have, and
//! writes its graph. It knows no device, no kernel, and none of a device's choices of type: one
//! definition serves every format and target.

pub mod arch;
mod block;
mod blueprint;
mod config;
mod error;
mod model;
mod weights;

pub use blueprint::{Blueprint, TensorShape};
pub use config::{Config, Experts, Scaling, Window};
pub use error::Error;
pub use model::{Model, Source, open};
pub use weights::Weights;
