//! `objc2-metal` against the simulator's stand-in: what a program may do, what it may not, and
//! what it must survive.

mod blit;
mod buffers;
mod capture;
mod commands;
mod faults;
mod kernels;
mod layer;
mod misuse;
mod ownership;
mod precompiled;
mod residency;
