//! `cargo xtask mutate`: weakens every barrier of the Metal kernels, and leaves out every barrier
//! between launches, one at a time; the simulator must catch each.
//!
//! The tests do a tenth of it. Here they are told to do all, and print a table of what caught what;
//! with a word, all barriers of files that have it in their names.

use crate::process::{self, cargo};
use crate::sim;
use anyhow::{Result, bail};

/// What the tests look for.
const VARIABLE: &str = "MINFER_MUTATE";

/// The entry point.
///
/// # Errors
/// A barrier that nothing needs, or whatever cargo says.
pub fn run(arguments: &[String]) -> Result<()> {
    let files = match arguments {
        [] => "all",
        [files] => files,
        _ => bail!("name one file of kernels, or none for all"),
    };
    let test = ["test", "--locked", "--package", "minfer-backend-metal", "--test", "it"];
    let mut command = cargo();
    let filter = ["barriers", "--", "--nocapture"];
    command.args(test).args(filter);
    process::run(command.env(VARIABLE, files).env("METAL_SIM_REQUIRED", "1"))?;
    if files != "all" {
        return Ok(());
    }
    let mut command = sim::command("test", &["--workspace", "--test", "it"])?;
    command.args(filter);
    process::run(command.env(VARIABLE, files).env("METAL_SIM_REQUIRED", "1"))
}
