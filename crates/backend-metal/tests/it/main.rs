//! Tests of the Metal device's kernels and launches.

mod device;
mod kernels;
mod launches;
mod models;
mod variants;
