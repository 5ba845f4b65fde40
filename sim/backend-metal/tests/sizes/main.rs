//! The Metal device, as it ships, at the sizes that once hid faults, and handled roughly.

mod alone;
mod half;
mod harness;
mod heads;
mod prompts;
mod rough;
mod schedules;
mod sharing;
