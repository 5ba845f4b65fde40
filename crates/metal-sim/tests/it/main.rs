//! Integration tests, one module per concern.

mod by_hand;
mod clean;
mod detectors;
mod kernels;
mod launches;
mod limits;
mod traffic;
