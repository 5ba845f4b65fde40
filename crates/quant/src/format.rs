//! The formats, one file each. A file states `LEN` (values in a block), `BYTES` (its size, with an
//! assertion that the fields add up to it), `decode`, and `encode` where the format has one.
//!
//! Decoding multiplies and adds in `f32` in the order written, one rounding per operation.

pub(crate) mod bf16;
pub(crate) mod f16;
pub(crate) mod f32;
pub(crate) mod q4_0;
pub(crate) mod q4_1;
pub(crate) mod q6_k;
pub(crate) mod q8_0;
