//! What is wrong with a source, beyond what a C++ compiler finds.

use super::lexer::Token;
use crate::Place;
use crate::compile::Diagnostic;

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
    #[error("unknown attribute [[{name}]]{}", hint(near.as_deref()))]
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

fn hint(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("; did you mean [[{near}]]?"))
}

/// Faults so far, with their places.
#[derive(Debug)]
pub(crate) struct Faults<'f> {
    files: &'f [String],
    pub found: Vec<Diagnostic>,
}

impl<'f> Faults<'f> {
    pub(crate) fn new(files: &'f [String]) -> Self {
        Self { files, found: Vec::new() }
    }

    pub(crate) fn place(&self, token: &Token<'_>) -> Place {
        let file = self.files.get(token.file).cloned().unwrap_or_default();
        Place { file, line: token.line, column: token.column }
    }

    pub(crate) fn add(&mut self, token: &Token<'_>, fault: Fault) {
        self.found.push(Diagnostic::error(self.place(token), fault.to_string()));
    }
}
