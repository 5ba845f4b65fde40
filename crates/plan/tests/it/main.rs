//! The planner and the runner on a target and a device that are defined here.

mod architectures;
mod buckets;
mod decompose;
mod device;
mod fusions;
mod inputs;
mod memory;
mod operands;
mod placement;
mod runner;
mod simulate;
mod stages;
mod steps;
mod target;
mod work;
mod world;
