//! Places in kernel sources.

use std::fmt;

/// Where something stands in a source, as `#line` directives tell it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Name of the source.
    pub file: String,
    /// From one.
    pub line: u32,
    /// From one; 0 where it is not known.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}
