//! Why a file is not a model that can run.

/// A file that opens as GGUF but is not a model this engine runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The metadata lacks a key or has one of the wrong type.
    #[error(transparent)]
    Metadata(#[from] minfer_gguf::Error),
    /// No such architecture here.
    #[error("architecture {found:?} is not supported; supported: {}", known.join(", "))]
    Architecture {
        /// `general.architecture` of the file.
        found: String,
        /// What would be accepted.
        known: Vec<&'static str>,
    },
    /// A hyper-parameter is out of its range or contradicts another.
    #[error("{key}: expected {expected}, found {found}")]
    Parameter {
        /// Metadata key.
        key: String,
        /// What fits.
        expected: String,
        /// What the file says.
        found: String,
    },
    /// A tensor that the architecture needs is not in the file.
    #[error("tensor {name} is missing; {architecture} needs it with dimensions {expected:?}")]
    MissingTensor {
        /// Name of the tensor.
        name: String,
        /// The architecture.
        architecture: &'static str,
        /// Dimensions in the file's order, the contiguous one first.
        expected: Vec<u64>,
    },
    /// A tensor has other dimensions than the hyper-parameters say.
    #[error("tensor {name}: expected dimensions {expected:?}, found {found:?}")]
    TensorShape {
        /// Name of the tensor.
        name: String,
        /// Dimensions by the hyper-parameters, the contiguous one first.
        expected: Vec<u64>,
        /// Dimensions in the file.
        found: Vec<u64>,
    },
    /// A matrix whose results are to be multiplied by a tensor of their own, as converters of NVFP4
    /// models write them.
    #[error(
        "tensor {scale} scales the results of {name}, which is not supported; \
         expected a file whose blocks hold their whole scales"
    )]
    TensorScale {
        /// Name of the matrix.
        name: String,
        /// Name of its scale.
        scale: String,
    },
    /// The graph could not be built; with checked weights this is a fault of the architecture's
    /// code or a combination of hyper-parameters that it does not foresee.
    #[error(transparent)]
    Graph(#[from] minfer_graph::Error),
    /// A weight's bytes could not be decoded at load.
    #[error(transparent)]
    Quant(#[from] minfer_quant::Error),
}
