//! What can go wrong between a file and its tokens.

use std::path::PathBuf;

use minfer_plan::DeviceError;

use crate::gate::SHARE_PERCENT;
use crate::scheduler::Refusal;

/// Loading a model or serving a request failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or is damaged.
    #[error(transparent)]
    File(#[from] minfer_gguf::Error),
    /// The file is not a model that runs here.
    #[error(transparent)]
    Model(#[from] minfer_models::Error),
    /// The file's vocabulary cannot be used.
    #[error(transparent)]
    Tokenizer(#[from] minfer_tokenizer::Error),
    /// A graph could not be planned or a program not be run.
    #[error(transparent)]
    Plan(#[from] minfer_plan::Error),
    /// Sampling parameters or a grammar are refused, or a row of logits cannot be sampled.
    #[error(transparent)]
    Sample(#[from] minfer_sample::Error),
    /// The scheduler refused the prompt.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// No such device in this build or on this machine.
    #[error("device {name} is not available here; available: {}", known.join(", "))]
    Device {
        /// What was asked for.
        name: String,
        /// What would be accepted.
        known: Vec<&'static str>,
    },
    /// A GPU cannot run all that was to go there; work never moves elsewhere on its own.
    #[error("{device} cannot run {layers} of the model's {of} layers: {}", refused.join("; "))]
    Gate {
        /// Name of the device.
        device: String,
        /// Layers that were to go there.
        layers: usize,
        /// Layers of the model.
        of: usize,
        /// What it refuses, and why.
        refused: Vec<String>,
        /// How many of the last layers it could run.
        possible: usize,
    },
    /// A GPU is to keep more bytes in use than it may.
    #[error(
        "{device} may keep {:.1} MB in use ({SHARE_PERCENT} % of its working set), but {:.1} MB \
         are needed: weights {:.1}, cache {:.1}, a step {:.1}",
        megabytes(*allowed), megabytes(weights + kv + arena), megabytes(*weights), megabytes(*kv),
        megabytes(*arena)
    )]
    WorkingSet {
        /// Name of the device.
        device: String,
        /// Bytes that it may keep in use.
        allowed: u64,
        /// Bytes of weights.
        weights: u64,
        /// Bytes of KV pages.
        kv: u64,
        /// Bytes of the arena and staging areas.
        arena: u64,
    },
    /// An option is out of its range.
    #[error("{option}: expected {expected}, found {found}")]
    Options {
        /// Name of the option.
        option: &'static str,
        /// What fits.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A field of a request is out of its range.
    #[error("request: {field}: expected {expected}, found {found}")]
    Request {
        /// Name of the field.
        field: &'static str,
        /// What fits.
        expected: String,
        /// What was given.
        found: String,
    },
    /// Bytes of the mapped file were lost while in use; results computed from them are not used.
    #[error(
        "{}: the file changed or its disk failed while it was in use; load it again",
        path.display()
    )]
    Faulted {
        /// The file.
        path: PathBuf,
    },
    /// Running sequences hold the pages that scoring or tracing would need.
    #[error(
        "no free page for position {position} of {last}: \
         wait for running requests, or load with more KV pages"
    )]
    Pages {
        /// The position that found no page.
        position: usize,
        /// The last position that was to be computed.
        last: usize,
    },
    /// The thread that read the vocabulary panicked, which is a fault of this program.
    #[error("the thread that reads the vocabulary did not end normally")]
    TokenizerThread,
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Error {
        Error::Plan(error.into())
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
