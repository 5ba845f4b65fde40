//! The integration tests of the crate, one binary.

mod chain;
mod grammar;
mod masks;
mod parameters;
mod random;
mod stages;
mod statistics;
