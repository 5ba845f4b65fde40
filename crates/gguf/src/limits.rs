//! Every limit of the format reader, in one table that documentation is generated from.
//!
//! A limit bounds what a file can make the reader do. Each is far above what real models need;
//! a file beyond one is refused with the limit's name, value and the number found.

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Name in upper snake case, the constant's own.
    pub name: &'static str,
    /// The last value that is still accepted (the first, for a minimum).
    pub value: u64,
    /// What the value counts.
    pub unit: &'static str,
    /// One sentence: what is limited, and why there.
    pub doc: &'static str,
}

macro_rules! limits {
    ($($name:ident = $value:expr, $unit:literal, $doc:literal;)+) => {
        $(
            #[doc = $doc]
            pub const $name: Limit =
                Limit { name: stringify!($name), value: $value, unit: $unit, doc: $doc };
        )+

        /// All limits, in reading order.
        pub const LIMITS: &[Limit] = &[$($name),+];
    };
}

limits! {
    HEAD_BYTES = 256 << 20, "bytes", "Header, metadata and tensor table of one file together.";
    KEYS = 65_536, "keys", "Metadata entries of one file; real models have fewer than a hundred.";
    KEY_BYTES = 65_535, "bytes", "Length of a metadata key, from the format's specification.";
    STRING_BYTES = 16 << 20, "bytes", "Length of a string value; the longest are chat templates.";
    ARRAY_ELEMENTS = 16 << 20, "elements", "Elements of one array; the longest are vocabularies.";
    ALL_ELEMENTS = 64 << 20, "elements", "Elements of all arrays of one file together.";
    TENSORS = 262_144, "tensors", "Tensors of one file.";
    TENSOR_NAME_BYTES = 63, "bytes", "Length of a tensor's name, the same as in other readers.";
    DIMENSIONS = 4, "dimensions", "Dimensions of a tensor; at least one.";
    ALIGNMENT_MIN = 8, "bytes", "Smallest alignment of tensor data; powers of two only.";
    ALIGNMENT_MAX = 1 << 20, "bytes", "Largest alignment of tensor data; powers of two only.";
    PARTS = 1_024, "files", "Files of a split set.";
}
