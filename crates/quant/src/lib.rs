//! Scalar types and block formats: bytes to numbers and back.
//!
//! [`Quant`] names the formats in which weights are stored, [`DType`] the types of activations and
//! [`KvType`] those of key/value pages. Each weight format is one file in `format/` (layout,
//! decode, encode) and one row of the table in `table.rs`.
//!
//! [`grid`] has the code books of some formats, for kernels.
//!
//! Not here: kernels, dot products, shapes of tensors, files. Decoding is the definition that every
//! kernel is checked against: plain `f32` operations in a stated order, so that the bits are the
//! same on every machine.
//!
//! Invariants: no input makes these functions panic; lengths are checked before the first block is
//! touched; all multi-byte fields are little-endian whatever the machine.

mod dtype;
mod error;
mod field;
mod float;
mod format;
pub mod grid;
mod kv;
mod scale;
mod table;

pub use dtype::{DType, Planes};
pub use error::Error;
pub use float::f16_to_f32;
pub use kv::KvType;
pub use table::Quant;
