//! The declarative compute graph: what to compute, with no word on how or where.
//!
//! A [`Graph`] is a list of nodes in execution order. Each node applies one [`Op`] to typed values
//! and defines new ones. Activations are matrices of rows: a row belongs to a token of the step, to
//! an output row of the step, or to a fixed table; heads and experts are attributes of the ops that
//! need them. Topology is a function of the model and of [`StepShape`] alone. Everything that
//! changes from step to step inside a bucket (token ids, positions, page tables, work lists) is an
//! [`Input`]: data.
//!
//! What this crate does not know: devices, kernels, files, text. A new op is one file in `op/`, see
//! `docs/adding/op.md`; the compiler then names every place that still has to deal with it.

mod build;
mod dump;
mod error;
mod export;
mod graph;
pub mod op;
mod op_def;
mod rewrite;
mod step;
mod value;
mod verify;

pub use build::Builder;
pub use error::Error;
pub use graph::{Graph, Node, NodeId, Output, OutputKind, Tables, Value, ValueId};
pub use op::{Activation, Cost, Op, OpDef, OpKind};
pub use rewrite::Rewrite;
pub use step::{
    Counts, Input, KvTypes, PAGE_POSITIONS, PARTITION_POSITIONS, StepKind, StepShape, WORK_FIELDS,
    Want, Work,
};
pub use value::{Rows, StateDecl, StateId, TensorType, WeightDecl, WeightId};
