//! What can be wrong with a file, and what the caller can do about it.

use std::io;
use std::path::PathBuf;

use minfer_quant::Quant;

use crate::limits::Limit;
use crate::value::ValueType;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that reading or writing a GGUF file can end in. Offsets count from the start of the
/// file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another error, with the file it came from.
    #[error("{}: {error}", path.display())]
    InFile {
        /// The file that was being opened.
        path: PathBuf,
        /// What went wrong in it.
        error: Box<Error>,
    },
    /// The operating system refused an operation.
    #[error("cannot {operation} the file: {source}")]
    Io {
        /// A verb: open, map, read, lock, write.
        operation: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The path is a directory, a pipe or a device.
    #[error("not a regular file; expected a model file that ends in .gguf")]
    NotAFile,
    /// The file ends inside its head.
    #[error(
        "the file ends too early: {what} at byte {offset} needs {needed} bytes, {left} are left; \
         the download may be incomplete"
    )]
    Truncated {
        /// The field being read.
        what: &'static str,
        /// Where the field starts.
        offset: u64,
        /// Its length in bytes.
        needed: u64,
        /// Bytes from `offset` to the end.
        left: u64,
    },
    /// The first four bytes are not `GGUF`.
    #[error("not a GGUF file: it starts with bytes {found:02x?}, expected 47 47 55 46 (\"GGUF\")")]
    Magic {
        /// The first four bytes.
        found: [u8; 4],
    },
    /// A big-endian file.
    #[error(
        "big-endian GGUF (version {version}) is not supported; convert the file to little endian"
    )]
    BigEndian {
        /// Version, read in the file's own byte order.
        version: u32,
    },
    /// A version of the format that is not read.
    #[error("GGUF version {found} is not supported, versions 2 and 3 are; convert the file again")]
    Version {
        /// The version field.
        found: u32,
    },
    /// A number is beyond a row of [`crate::LIMITS`].
    #[error(
        "{what}: {found} {} at byte {offset}, the limit {} is {}",
        limit.unit, limit.name, limit.value
    )]
    Limit {
        /// The row.
        limit: Limit,
        /// The field being read.
        what: &'static str,
        /// The number found.
        found: u64,
        /// Where it stands.
        offset: u64,
    },
    /// A metadata key is empty or has bytes other than printable ASCII.
    #[error("the metadata key at byte {offset} is empty or not printable ASCII")]
    Key {
        /// Where the key starts.
        offset: u64,
    },
    /// A metadata key appears twice.
    #[error("metadata key {key:?} appears twice, again at byte {offset}; the file is ambiguous")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Where its second entry starts.
        offset: u64,
    },
    /// A type id of a value or of an array's elements that the format does not define.
    #[error("metadata key {key:?} has value type {found} at byte {offset}, known are 0 to 12")]
    ValueType {
        /// The key.
        key: String,
        /// The type id.
        found: u32,
        /// Where it stands.
        offset: u64,
    },
    /// An array of arrays.
    #[error("metadata key {key:?} is an array of arrays (byte {offset}), which is not supported")]
    NestedArray {
        /// The key.
        key: String,
        /// Where the inner type stands.
        offset: u64,
    },
    /// A boolean that is neither 0 nor 1.
    #[error("metadata key {key:?} has the boolean {found} at byte {offset}, expected 0 or 1")]
    Bool {
        /// The key.
        key: String,
        /// The byte.
        found: u8,
        /// Where it stands.
        offset: u64,
    },
    /// `general.alignment` is not a power of two within limits.
    #[error("general.alignment is {found}, expected a power of two from 8 to 1048576")]
    Alignment {
        /// The value.
        found: u64,
    },
    /// A key that is needed is not there.
    #[error("metadata key {key:?} is missing")]
    MissingKey {
        /// The key.
        key: String,
    },
    /// A key holds another type than asked for.
    #[error(
        "metadata key {key:?} is {}{found}, expected {expected}",
        if *array { "an array of " } else { "of type " }
    )]
    WrongType {
        /// The key.
        key: String,
        /// What was asked for.
        expected: &'static str,
        /// What the file holds, or the type of its elements.
        found: ValueType,
        /// Whether the file holds an array.
        array: bool,
    },
    /// An integer does not fit the type asked for.
    #[error("metadata key {key:?} is {found}, which does not fit {expected}")]
    OutOfRange {
        /// The key.
        key: String,
        /// The type asked for.
        expected: &'static str,
        /// The number in the file.
        found: i128,
    },
    /// A string value that must be text is not UTF-8.
    #[error("metadata key {key:?} is not valid UTF-8 after {valid} bytes")]
    Utf8 {
        /// The key.
        key: String,
        /// Length of the valid beginning.
        valid: usize,
    },
    /// A tensor's name is empty or not UTF-8.
    #[error("the tensor name at byte {offset} is empty or not UTF-8")]
    TensorName {
        /// Where the name starts.
        offset: u64,
    },
    /// Two tensors share a name.
    #[error("tensor {name:?} appears twice; the file is ambiguous")]
    DuplicateTensor {
        /// The name.
        name: String,
    },
    /// A tensor without dimensions, or with more elements than 63 bits count.
    #[error("tensor {name:?} has dimensions {dims:?}; expected 1 to 4 with a product below 2^63")]
    Dimensions {
        /// The tensor.
        name: String,
        /// Its dimensions, the row length first.
        dims: Vec<u64>,
    },
    /// A tensor's format is not one this project reads.
    #[error(
        "tensor {name:?} is of type {id} ({}), which is not supported; known: {}",
        format.unwrap_or("unknown"), known_formats()
    )]
    TensorType {
        /// The tensor.
        name: String,
        /// The type id in the file.
        id: u32,
        /// Its name elsewhere, when it has one.
        format: Option<&'static str>,
    },
    /// A row is not a whole number of blocks.
    #[error(
        "tensor {name:?} has rows of {row} values, not a multiple of {block}, the block of {}",
        quant.name()
    )]
    RowLength {
        /// The tensor.
        name: String,
        /// Its format.
        quant: Quant,
        /// Values per row.
        row: u64,
        /// Values per block.
        block: u64,
    },
    /// A tensor does not start where the one before it ends (padded to the alignment).
    #[error(
        "tensor {name:?} has data offset {found}, expected {expected}: tensors must follow each \
         other, padded to the alignment"
    )]
    TensorOffset {
        /// The tensor.
        name: String,
        /// Where it must start, from the start of the data.
        expected: u64,
        /// Where the file says it starts.
        found: u64,
    },
    /// A tensor's data do not lie in the file.
    #[error(
        "tensor {name:?} needs bytes {offset} to {offset}+{bytes}, the file has {file_bytes}; \
         the download may be incomplete"
    )]
    TensorRange {
        /// The tensor.
        name: String,
        /// Where its data start in the file.
        offset: u64,
        /// Their length.
        bytes: u64,
        /// Length of the file.
        file_bytes: u64,
    },
    /// A part of a split set that is not named as one.
    #[error(
        "this is part {part} of {count} of a split model, so its name must end in {expected:?} \
         with the other parts beside it; rename the files and start with the first part"
    )]
    SplitName {
        /// Number of this part, from 1.
        part: u64,
        /// Parts in the set.
        count: u64,
        /// How the name must end.
        expected: String,
    },
    /// A part of a split set is missing.
    #[error("part {part} of {count} of the split model is missing: looked for {}", path.display())]
    SplitMissing {
        /// Number of the missing part, from 1.
        part: u64,
        /// Parts in the set.
        count: u64,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The parts of a split set contradict each other.
    #[error("part {part} of the split model has {key} = {found}, expected {expected}")]
    SplitMismatch {
        /// Number of the part, from 1.
        part: u64,
        /// What disagrees.
        key: &'static str,
        /// The value that the set asks for.
        expected: u64,
        /// The value found.
        found: u64,
    },
    /// The data given for a tensor to be written are not as long as its shape says.
    #[error("tensor {name:?} needs {expected} bytes of data, {found} were given")]
    DataLength {
        /// The tensor.
        name: String,
        /// Bytes by shape and format.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
}

impl Error {
    pub(crate) fn io(operation: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { operation, source }
    }

    /// The error itself, without the file names around it.
    pub fn root(&self) -> &Self {
        let mut error = self;
        while let Self::InFile { error: inner, .. } = error {
            error = inner;
        }
        error
    }
}

fn known_formats() -> String {
    Quant::ALL.iter().map(|quant| quant.name()).collect::<Vec<_>>().join(" ")
}
