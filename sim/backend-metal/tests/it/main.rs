//! The Metal device, as it ships, run against the simulator.

mod barriers;
mod device;
mod engine;
mod gpu;
mod metallib;
mod models;
mod ops;
