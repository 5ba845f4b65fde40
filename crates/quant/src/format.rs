//! The formats, one file each. A file states `LEN` (values in a block), `BYTES` (its size, with an
//! assertion that the fields add up to it), `decode`, and `encode` where the format has one.
//!
//! Decoding multiplies and adds in `f32` in the order written, one rounding per operation.

pub(crate) mod bf16;
pub(crate) mod f16;
pub(crate) mod f32;

pub(crate) mod q4_0;
pub(crate) mod q4_1;
pub(crate) mod q5_0;
pub(crate) mod q5_1;
pub(crate) mod q8_0;

pub(crate) mod q2_k;
pub(crate) mod q3_k;
pub(crate) mod q4_k;
pub(crate) mod q5_k;
pub(crate) mod q6_k;
pub(crate) mod q8_k;

pub(crate) mod iq1_m;
pub(crate) mod iq1_s;
pub(crate) mod iq2_s;
pub(crate) mod iq2_xs;
pub(crate) mod iq2_xxs;
pub(crate) mod iq3_s;
pub(crate) mod iq3_xxs;
pub(crate) mod iq4_nl;
pub(crate) mod iq4_xs;

pub(crate) mod mxfp4;
pub(crate) mod nvfp4;

pub(crate) mod tq1_0;
pub(crate) mod tq2_0;

// Packings that several formats share.
mod book;
mod five_bits;
mod planes;
mod six_bits;
