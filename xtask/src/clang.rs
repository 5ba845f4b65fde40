//! `cargo xtask clang`: the compiler that the simulator of Metal needs, from Debian's packages.

use crate::apt;
use crate::process::{self, command, output};
use anyhow::{Context as _, Result};

/// What is asked for, and the packages that bring it.
const COMPILER: &str = "clang++-19";
const PACKAGES: [&str; 3] = ["clang-19", "libclang-rt-19-dev", "llvm-19"];

/// The variable that names another compiler.
const VARIABLE: &str = "METAL_SIM_CLANG";

/// The entry point.
///
/// # Errors
/// The compiler is missing and cannot be installed.
pub fn run(arguments: &[String]) -> Result<()> {
    process::flags(arguments, [])?;
    if let Some(version) = version() {
        println!("{version}");
        return Ok(());
    }
    let otherwise = format!(", or name a clang++ in {VARIABLE}");
    apt::install(&PACKAGES, &otherwise).with_context(|| format!("{COMPILER} is missing"))?;
    let version = version().with_context(|| format!("{COMPILER} does not run"))?;
    println!("{version}");
    Ok(())
}

/// First line of what the compiler says of itself.
fn version() -> Option<String> {
    let program = std::env::var_os(VARIABLE).unwrap_or_else(|| COMPILER.into());
    let text = output(command(program).arg("--version")).ok()?;
    text.lines().next().map(str::to_owned)
}
