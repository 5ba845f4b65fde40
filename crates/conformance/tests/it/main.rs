//! The reference against itself: canonical mode within tolerance of f64, architectures against
//! transformers, and the ways of cutting a prompt against each other.

mod fixtures;
mod ops;
mod tiny;
