//! The test programs of some packages, as a build of the whole workspace makes them.

use crate::process::{self, command};
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::{Message, MetadataCommand};
use std::process::{Command, Stdio};

/// A program that runs tests, and how cargo would start it.
pub struct Program {
    /// Its package and the source that it begins with.
    pub name: String,
    /// It, in its package's folder.
    pub command: Command,
}

/// Builds the tests of all packages, and gives those of these packages.
///
/// # Errors
/// What cargo says, and a package without a test.
pub fn of(packages: &[&str]) -> Result<Vec<Program>> {
    let metadata = MetadataCommand::new().current_dir(process::root()).no_deps().exec()?;
    let mut build = process::cargo();
    build.args(["test", "--workspace", "--locked", "--no-run", "--quiet"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    let done = build.stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(done.status.success(), "building the tests ended with {}", done.status);
    let mut programs = Vec::new();
    for message in Message::parse_stream(&*done.stdout) {
        let Message::CompilerArtifact(artifact) = message? else { continue };
        let package = metadata.packages.iter().find(|package| package.id == artifact.package_id);
        let (Some(package), Some(program)) = (package, artifact.executable) else { continue };
        if !artifact.profile.test || !packages.contains(&package.name.as_str()) {
            continue;
        }
        let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
        let source = artifact.target.src_path.strip_prefix(folder)?;
        let mut command = command(program);
        command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder);
        programs.push(Program { name: format!("{} {source}", package.name), command });
    }
    ensure!(!programs.is_empty(), "{} have no tests", packages.join(", "));
    Ok(programs)
}
