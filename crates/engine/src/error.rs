//! What can go wrong between a file and its tokens.

use std::path::PathBuf;

use minfer_plan::DeviceError;

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
