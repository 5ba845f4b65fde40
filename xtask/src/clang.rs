//! `cargo xtask clang`: the compiler that the simulator of Metal needs, from Debian's packages.

use crate::process::{self, command, output, run as run_command};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

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
    let by_hand = format!("install {}, or name a clang++ in {VARIABLE}", PACKAGES.join(", "));
    if output(command("apt-get").arg("--version")).is_err() {
        bail!("{COMPILER} is missing and there is no apt-get here: {by_hand}");
    }
    println!("installing {}", PACKAGES.join(", "));
    let mut install = privileged()?;
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(PACKAGES);
    // Package lists may be missing or old; they are fetched when the first try fails.
    if output(&mut install).is_err() {
        output(privileged()?.args(["update", "-qq"])).context(by_hand.clone())?;
        run_command(&mut install).context(by_hand.clone())?;
    }
    let version = version().with_context(|| format!("{COMPILER} does not run: {by_hand}"))?;
    println!("{version}");
    Ok(())
}

/// First line of what the compiler says of itself.
fn version() -> Option<String> {
    let program = std::env::var_os(VARIABLE).unwrap_or_else(|| COMPILER.into());
    let text = output(command(program).arg("--version")).ok()?;
    text.lines().next().map(str::to_owned)
}

/// apt-get with the right to install, without asking anyone.
fn privileged() -> Result<Command> {
    let root = output(command("id").arg("-u"))?.trim() == "0";
    let mut apt = if root { command("apt-get") } else { command("sudo") };
    if !root {
        apt.args(["-n", "apt-get"]);
    }
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(apt)
}
