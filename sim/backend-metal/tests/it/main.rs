//! The Metal device, as it ships, run against the simulator.

mod models;
mod ops;
