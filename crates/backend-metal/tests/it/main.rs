//! Tests of the Metal device's kernels and launches.

mod barriers;
mod device;
mod figures;
mod kernels;
mod language;
mod launches;
mod models;
mod tune;
mod variants;
