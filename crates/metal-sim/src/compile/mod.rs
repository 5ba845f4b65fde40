//! From Metal text to a loaded library: the generator, clang, the cache.

mod cache;
mod clang;
mod compiler;
mod diagnostics;
mod error;
mod flags;
mod notes;
mod shim;
mod strict;

use crate::source::Signature;
pub use compiler::Compiler;
pub use diagnostics::{Diagnostic, Note, Severity};
pub use error::CompileError;

/// A source of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What reports call it. `#line` directives in the text are honoured.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What a check found in a source that compiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Its kernels.
    pub signatures: Vec<Signature>,
    /// What the compiler warns of.
    pub warnings: Vec<Diagnostic>,
}
