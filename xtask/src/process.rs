//! Running other programs, with errors that name the command line; and where things are.

use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root")
}

/// Builds every crate with its tests.
pub const BUILD_ALL: [&str; 5] = ["build", "--workspace", "--all-targets", "--locked", "--quiet"];

/// Where cargo puts what it builds.
///
/// # Errors
/// Cargo cannot read the workspace.
pub fn build_folder() -> Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(root()).no_deps().exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// A command that starts in the repository's root.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that runs this program, as a user would start it: what it told this program of the
/// package `xtask` would look like a change to build scripts that watch those variables.
pub fn cargo() -> Command {
    let mut cargo = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// Runs to the end with inherited output.
///
/// # Errors
/// The program is missing or ends with another status than zero.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", text(command)))?;
    ensure!(status.success(), "`{}` ended with {status}", text(command));
    Ok(())
}

/// Runs to the end and returns what was printed to standard output.
///
/// # Errors
/// As [`run`], and output that is not UTF-8. The error carries the end of standard error.
pub fn output(command: &mut Command) -> Result<String> {
    let done = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", text(command)))?;
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        let tail: Vec<&str> = errors.lines().rev().take(8).collect();
        let tail: Vec<&str> = tail.into_iter().rev().collect();
        bail!("`{}` ended with {}:\n{}", text(command), done.status, tail.join("\n"));
    }
    String::from_utf8(done.stdout).with_context(|| format!("output of `{}`", text(command)))
}

/// The command line as typed, for messages.
fn text(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Fails for any argument outside `known`; returns whether each of `known` was given.
///
/// # Errors
/// Names the first argument that is unknown.
pub fn flags<const N: usize>(arguments: &[String], known: [&str; N]) -> Result<[bool; N]> {
    if let Some(other) = arguments.iter().find(|given| !known.contains(&given.as_str())) {
        bail!("unknown argument '{other}'; known are: {}", known.join(" "));
    }
    Ok(known.map(|flag| arguments.iter().any(|given| given == flag)))
}

/// The Python of a virtual environment under `target/<name>`, made when missing, with these
/// packages installed. A list of packages that differs from last time is installed anew.
///
/// # Errors
/// No python3, no network, or a package that cannot be installed.
pub fn python_with(name: &str, packages: &[impl AsRef<str>]) -> Result<PathBuf> {
    let packages: Vec<&str> = packages.iter().map(AsRef::as_ref).collect();
    let folder = root().join("target").join(name);
    let python = folder.join("bin/python");
    let stamp = folder.join("packages.txt");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) && python.exists() {
        return Ok(python);
    }
    run(command("python3").args(["-m", "venv"]).arg(&folder)).context(
        "a Python environment is needed: install python3 and its venv module (Debian: \
         python3-venv)",
    )?;
    run(command(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(&packages))?;
    std::fs::write(&stamp, wanted)?;
    Ok(python)
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
