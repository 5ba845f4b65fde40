//! The GGUF file format: parse, write, split and merge, memory map.
//!
//! [`File::open`] turns a path into typed metadata and a checked tensor table over bytes that stay
//! where they are: mapped read-only, or read into memory. [`Writer`] makes such files, whole or as
//! split sets. This crate knows the container alone: no architecture, no tokenizer, no meaning of
//! a key beyond `general.alignment` and `split.*`.
//!
//! Invariants:
//! - No byte sequence makes this crate panic, hang, or allocate beyond a small multiple of the
//!   file: sizes are checked against [`limits`] and against the bytes left before anything is
//!   allocated, and arithmetic on numbers from the file is checked.
//! - Every [`Tensor`] of a [`File`] lies inside its part, has a known format, whole blocks per row,
//!   and a length that equals what its shape and format say.
//! - Parsing takes time linear in the bytes of the head.
//!
//! Policy where the format is silent or readers differ:
//! - Versions 2 and 3, little endian. Version 1 and big-endian files are refused by name.
//! - Keys are printable ASCII and unique; tensor names are UTF-8 and unique.
//! - String *values* are bytes: vocabularies hold tokens that are not UTF-8. [`Metadata::str`]
//!   insists on UTF-8, [`StringArray`] offers both views.
//! - Tensor data follow each other in table order, each start padded to the alignment: so no
//!   overlap, no hole, and what a scanner sees is what a loader sees. Bytes after the last tensor
//!   are ignored.
//! - Dimensions may be zero (a tensor of no bytes); whether one may be is the model's question.
//! - Arrays of arrays are refused.

mod error;
mod file;
mod header;
pub mod limits;
mod map;
mod metadata;
mod part;
mod read;
pub mod split;
mod tensors;
mod value;
mod write;

pub use error::{Error, Result};
pub use file::{File, OpenOptions};
pub use header::{Header, MAGIC};
pub use limits::{LIMITS, Limit};
pub use metadata::Metadata;
pub use part::Part;
pub use tensors::Tensor;
pub use value::{Array, StringArray, Value, ValueType};
pub use write::Writer;
