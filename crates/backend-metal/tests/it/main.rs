//! Tests of the Metal device's kernels and launches.

mod launches;
mod variants;
