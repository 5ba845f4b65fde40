//! From Metal text to C++ text that clang compiles with this crate's headers.
//!
//! Reads what a preprocessor wrote, knows kernels and their parameters, and rewrites the little
//! that C++ cannot say. Lines and, where a line holds no macro, columns stay those of the source.
//! What a C++ compiler finds by itself is left to it.

mod attributes;
mod columns;
mod declarations;
mod fault;
mod functions;
mod kernels;
mod lexer;
mod lint;
mod render;
mod rewrite;
mod signature;
mod vectors;
mod wrappers;

use std::collections::BTreeSet;

use crate::compile::Diagnostic;
pub(crate) use columns::Columns;
pub use fault::Fault;
use fault::Faults;
pub use signature::{ParameterText, Signature, Slot};
pub(crate) use wrappers::{FILE as TABLES, FIRST_LINE, escape};

/// C++ text and what is in it.
#[derive(Debug)]
pub(crate) struct Generated {
    pub text: String,
    pub signatures: Vec<Signature>,
    /// Classes with member functions for objects in address spaces.
    pub in_spaces: BTreeSet<String>,
}

/// Makes C++ of preprocessed Metal text, whose first line is line one of `file`.
pub(crate) fn generate(
    preprocessed: &str,
    file: &str,
    columns: &Columns<'_>,
) -> Result<Generated, Vec<Diagnostic>> {
    let mut lexed = lexer::lex(preprocessed, file);
    columns.restore(&mut lexed.tokens, &lexed.files);
    let mut faults = Faults::new(&lexed.files);
    let (tokens, attributes) = attributes::separate(&lexed.tokens, &mut faults);
    let declarations = declarations::declarations(&tokens);
    let kernels = kernels::find(&tokens, &attributes, &declarations, &mut faults);
    let (mut edits, constants) =
        rewrite::constants(&tokens, &attributes, &declarations, &mut faults);
    let is_kernel = |name: usize| kernels.has(&tokens[name]);
    edits.extend(rewrite::threadgroup_variables(&tokens, &declarations, is_kernel, &mut faults));
    edits.extend(vectors::rewrite(&tokens));
    edits.extend(functions::array_parameters(&tokens, &declarations));
    edits.extend(functions::constructors(&tokens, &declarations));
    let (members, in_spaces) = functions::members(&tokens, &declarations);
    edits.extend(functions::repeated(&tokens, &declarations, &members));
    edits.extend(members);
    lint::address_spaces(&tokens, &declarations, &mut faults);
    if !faults.found.is_empty() {
        return Err(faults.found);
    }
    let mut text = "#include \"msl/all.h\"\n".to_owned();
    text.push_str(&rewrite::apply(&tokens, &lexed.files, &mut edits));
    text.push_str(&wrappers::write(&kernels, &constants, |entry| faults.place(&entry.token)));
    Ok(Generated { text, signatures: kernels.signatures(&faults), in_spaces })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
