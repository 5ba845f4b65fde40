//! The device as planner and engine see it: a small model's numbers, and the contract of submits
//! and waits.

mod llama;
mod numbers;
mod protocol;
