//! The engine on tiny models of every architecture.

mod ahead;
mod faults;
mod gate;
mod generation;
mod harness;
mod inspection;
mod limits;
mod placement;
mod prefix;
mod schedules;
mod score;
