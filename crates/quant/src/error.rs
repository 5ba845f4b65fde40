//! What can go wrong: lengths that do not fit, values that do not fit, a missing encoder.

/// An error of this crate. `format` is the snake_case name of the type concerned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A row does not divide into whole blocks.
    #[error(
        "{format}: a row of {cols} values does not divide into blocks of {block_len}; \
         expected a multiple of {block_len}, or choose another format"
    )]
    RowLength {
        /// Name of the format.
        format: &'static str,
        /// Values in the row.
        cols: usize,
        /// Values in a block.
        block_len: usize,
    },
    /// The bytes of a row cannot be counted in `usize`.
    #[error("{format}: a row of {cols} values is larger than this machine can address")]
    RowTooLarge {
        /// Name of the format.
        format: &'static str,
        /// Values in the row.
        cols: usize,
    },
    /// The byte buffer does not match the number of values.
    #[error("{format}: {values} values take {expected} bytes, found {found}")]
    ByteLength {
        /// Name of the format.
        format: &'static str,
        /// Values on the other side.
        values: usize,
        /// Bytes they take.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// A value that block scales cannot carry (NaN, infinite, or beyond the `f16` range).
    #[error(
        "{format}: value {value} at index {index} cannot be encoded; \
         expected a finite value of magnitude at most 65504"
    )]
    ValueOutOfRange {
        /// Name of the format.
        format: &'static str,
        /// Position of the first such value.
        index: usize,
        /// The value.
        value: f32,
    },
    /// The format can be read but not written.
    #[error("{format}: this format has no encoder; choose one whose `can_encode()` is true")]
    NoEncoder {
        /// Name of the format.
        format: &'static str,
    },
}
