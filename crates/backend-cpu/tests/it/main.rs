//! The device against the executable definitions, bit for bit: every op, every weight format, every
//! KV type, on every instruction set that is here, with several numbers of threads.

mod conformance;
mod contract;
mod harness;
mod layers;
mod products;
