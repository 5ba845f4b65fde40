//! The Metal device, as it ships, run against the simulator.

mod device;
mod gpu;
mod models;
mod ops;
