//! One library of all kernels, made by the compiler that Xcode brings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// As the device compiles its source, for the same systems.
const OPTIONS: [&str; 4] = ["-std=metal3.0", "-mmacosx-version-min=13.0", "-O3", "-fno-fast-math"];

/// Compiles sources, each with its name, to `minfer.metallib` in the folder. Gives none where
/// `xcrun` does not run, or finds no compiler; fails with the first words of what failed.
pub fn precompile(
    xcrun: &Path,
    sources: &[(&str, &str)],
    folder: &Path,
) -> Result<Option<PathBuf>, String> {
    let tool = |name: &str| {
        let mut command = Command::new(xcrun);
        command.args(["-sdk", "macosx", name]);
        command
    };
    let there = tool("metal").arg("--version").output();
    if !there.is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    let compile = |(name, text): &(&str, &str)| {
        let [source, object] = ["metal", "air"].map(|end| folder.join(name).with_extension(end));
        fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let mut command = tool("metal");
        finish(command.args(OPTIONS).arg("-c").arg(&source).arg("-o").arg(&object))?;
        Ok(object)
    };
    let objects: Result<Vec<PathBuf>, String> = thread::scope(|scope| {
        let started: Vec<_> = sources.iter().map(|one| scope.spawn(move || compile(one))).collect();
        let ended = started.into_iter().map(|one| one.join());
        ended.map(|one| one.unwrap_or_else(|_| Err("a thread panicked".to_owned()))).collect()
    });
    let library = folder.join("minfer.metallib");
    finish(tool("metallib").arg("-o").arg(&library).args(objects?))?;
    Ok(Some(library))
}

/// Runs a tool to its end.
fn finish(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("it failed without a word").to_owned())
}
