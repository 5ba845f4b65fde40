//! From Metal text to C++ text that clang compiles with this crate's headers.
//!
//! Reads what a preprocessor wrote, knows kernels and their parameters, and rewrites the little that
//! C++ cannot say. Lines and, where a line holds no macro, columns stay those of the source. What
//! a C++ compiler finds by itself is left to it.

mod attributes;
mod columns;
mod declarations;
mod functions;
mod kernels;
mod lexer;
mod lint;
mod render;
mod rewrite;
mod vectors;
mod wrappers;

use std::collections::BTreeSet;

use crate::Place;
use crate::compile::Diagnostic;
pub(crate) use columns::Columns;
pub(crate) use wrappers::{FILE as TABLES, escape};

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

/// What is wrong with a source, beyond what a C++ compiler finds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A part of Metal that is not simulated.
    #[error("{what} is not supported: only compute kernels over buffers are simulated")]
    Unsupported {
        /// What was found.
        what: String,
    },
    /// An attribute that Metal does not have.
    #[error("unknown attribute [[{name}]]{}", near.as_ref().map_or(String::new(), |near| format!("; did you mean [[{near}]]?")))]
    UnknownAttribute {
        /// The attribute.
        name: String,
        /// One that is spelt nearly so.
        near: Option<String>,
    },
    /// A parameter that nothing says how to fill.
    #[error(
        "parameter `{name}` of kernel `{kernel}` has no attribute: expected [[buffer(n)]], \
         [[threadgroup(n)]] or a built-in value such as [[thread_position_in_grid]]"
    )]
    NoAttribute {
        /// The parameter.
        name: String,
        /// Its kernel.
        kernel: String,
    },
    /// A built-in value of a type that it cannot have.
    #[error("[[{attribute}]] has type `{found}`; expected {expected}")]
    BuiltinType {
        /// The attribute.
        attribute: &'static str,
        /// The types it can have.
        expected: &'static str,
        /// Its type in the source.
        found: String,
    },
    /// Positions of different numbers of dimensions.
    #[error(
        "`{first}` and `{second}` have different numbers of dimensions: positions and sizes of one \
         kernel are all scalars, or all vectors of one width"
    )]
    Widths {
        /// One parameter.
        first: String,
        /// Another.
        second: String,
    },
    /// An index beyond Metal's limit.
    #[error("[[{what}({index})]]: the highest index is {limit}")]
    IndexRange {
        /// The attribute.
        what: &'static str,
        /// Its index.
        index: String,
        /// The highest there is.
        limit: u32,
    },
    /// One index twice.
    #[error("[[{what}({index})]] is used twice, by `{first}` and `{second}`: give each its own")]
    SameIndex {
        /// The attribute.
        what: &'static str,
        /// Its index.
        index: String,
        /// Who has it first.
        first: String,
        /// Who has it again.
        second: String,
    },
    /// Two kernels that a host cannot tell apart.
    #[error("a kernel `{name}` is defined twice: give each a [[host_name(\"…\")]] of its own")]
    SameName {
        /// The name.
        name: String,
    },
    /// An explicit instantiation without template arguments.
    #[error("expected `template [[host_name(\"…\")]] kernel void name<arguments>(…);`")]
    Instance,
    /// An explicit instantiation of what is no kernel template.
    #[error("no kernel template `{name}` is defined before this instance")]
    NoTemplate {
        /// The name.
        name: String,
    },
    /// A variable in threadgroup memory that no kernel owns.
    #[error("a threadgroup variable stands in a kernel: declare it there and pass a pointer")]
    ThreadgroupOutside,
    /// A variable in threadgroup memory with a value.
    #[error("threadgroup variable `{name}` cannot have a value here: let one thread write it")]
    ThreadgroupValue {
        /// The variable.
        name: String,
    },
    /// A pointer or reference that does not say what it points into.
    #[error("{what} `{name}` has no address space: write device, constant, threadgroup or thread")]
    NoAddressSpace {
        /// "pointer" or "reference".
        what: &'static str,
        /// What is declared.
        name: String,
    },
}

/// Faults so far, with their places.
#[derive(Debug)]
pub(crate) struct Faults<'f> {
    files: &'f [String],
    found: Vec<Diagnostic>,
}

impl Faults<'_> {
    fn place(&self, token: &lexer::Token<'_>) -> Place {
        let file = self.files.get(token.file).cloned().unwrap_or_default();
        Place { file, line: token.line, column: token.column }
    }

    fn add(&mut self, token: &lexer::Token<'_>, fault: Fault) {
        self.found.push(Diagnostic::error(self.place(token), fault.to_string()));
    }
}

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
    let mut faults = Faults { files: &lexed.files, found: Vec::new() };
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
