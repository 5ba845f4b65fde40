//! The command with the device `metal-sim`, as a user has it.

mod command;
mod shell;
