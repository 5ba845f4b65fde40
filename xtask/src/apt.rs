//! Packages of Debian, installed where that needs no question.

use crate::process::{command, output, run as run_command};
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// Installs packages; `otherwise` is what one can do instead, for the message.
///
/// # Errors
/// There is no apt-get, no right to install, or no such package.
pub fn install(packages: &[&str], otherwise: &str) -> Result<()> {
    let by_hand = format!("install {}{otherwise}", packages.join(", "));
    if output(command("apt-get").arg("--version")).is_err() {
        bail!("there is no apt-get here: {by_hand}");
    }
    println!("installing {}", packages.join(", "));
    let mut install = privileged()?;
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages);
    // Package lists may be missing or old; they are fetched when the first try fails.
    if output(&mut install).is_err() {
        output(privileged()?.args(["update", "-qq"])).context(by_hand.clone())?;
        run_command(&mut install).context(by_hand)?;
    }
    Ok(())
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
