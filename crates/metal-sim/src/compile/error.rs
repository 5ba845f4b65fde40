//! The one error type of compiling.

use std::io;
use std::path::PathBuf;

use super::diagnostics::Diagnostic;
use crate::library::LoadError;

/// Why a source was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no compiler.
    #[error(
        "clang {oldest} or newer is needed to compile Metal kernels, but {found}; install it \
         (Debian, Ubuntu: apt-get install clang-{oldest} libclang-rt-{oldest}-dev) or name its \
         clang++ in {variable}"
    )]
    Missing {
        /// The oldest version that will do.
        oldest: u32,
        /// What was found instead.
        found: String,
        /// The variable that names another compiler.
        variable: &'static str,
    },
    /// The source is wrong.
    #[error("{}", lines(diagnostics))]
    Source {
        /// What is wrong, in the order of finding.
        diagnostics: Vec<Diagnostic>,
    },
    /// The compiler failed and did not say where.
    #[error("the compiler failed:\n{messages}")]
    Compiler {
        /// What it wrote.
        messages: String,
    },
    /// The system failed.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// A file.
        path: PathBuf,
        /// What happened to it.
        error: io::Error,
    },
    /// The compiled library does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
