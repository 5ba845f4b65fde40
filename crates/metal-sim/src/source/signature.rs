//! What a source says of its kernels.

use crate::Place;

/// What a parameter is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Buffer of this index: a number, or an expression of the source.
    Buffer(Option<String>),
    /// Threadgroup memory of this index.
    Threadgroup(Option<String>),
    /// A built-in value.
    Builtin {
        /// Its attribute.
        attribute: &'static str,
        /// Its name in `shim/abi.h`.
        value: &'static str,
    },
}

/// A parameter as the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterText {
    /// Empty where the source gives none.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// What is passed to it.
    pub binding: Slot,
    /// The function constant without which it is not there.
    pub optional: Option<String>,
}

/// A kernel as a source declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What a host calls it.
    pub name: String,
    /// Where it is defined or instantiated.
    pub place: Place,
    /// `max_total_threads_per_threadgroup`: a number or an expression.
    pub max_threads: Option<String>,
    /// Its parameters.
    pub parameters: Vec<ParameterText>,
}
