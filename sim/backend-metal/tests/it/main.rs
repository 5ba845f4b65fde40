//! The Metal device, as it ships, run against the simulator.

mod device;
mod engine;
mod gpu;
mod models;
mod ops;
