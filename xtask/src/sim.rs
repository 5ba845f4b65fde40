//! `cargo xtask sim COMMAND…`: cargo in the workspace `sim`, where programs that use Metal are
//! built for this machine. `cargo xtask sim -- run …` is the command `minfer` of that workspace,
//! which has the device `metal-sim`.
//!
//! `objc2-metal` says that it links a framework, which compilers for other platforms refuse even
//! where nothing is linked. So a copy of it is made under `target` in which that line counts for
//! Apple's platforms only; nothing of the copy is committed.

use crate::process::{cargo, root, run as run_command};
use anyhow::{Context as _, Result, bail, ensure};
use cargo_metadata::MetadataCommand;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const CRATE: &str = "objc2-metal";

/// The line, and what stands there in the copy.
const LINK: &str = r#"#[link(name = "Metal", kind = "framework")]"#;
const APPLE_LINK: &str =
    r#"#[cfg_attr(target_vendor = "apple", link(name = "Metal", kind = "framework"))]"#;

/// The workspace's manifest, and where its copy and what it builds lie.
const MANIFEST: &str = "sim/Cargo.toml";
const FOLDER: &str = "target/sim";

/// The file of the crate that has the line.
const FILE: &str = "src/generated/mod.rs";

/// The entry point.
///
/// # Errors
/// The crate cannot be fetched or looks otherwise than expected, and whatever cargo says.
pub fn run(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        bail!("name a command of cargo, for instance `cargo xtask sim test`");
    };
    let mut cargo = prepared()?;
    if command == "--" {
        // Paths among its arguments are where its user stands.
        cargo.current_dir(env::current_dir()?).args(minfer(rest));
    } else {
        cargo.args(command_line(command, rest));
    }
    run_command(&mut cargo)
}

/// A run of the command, built as the tests build it: most of its time is the kernels', which clang
/// optimises.
fn minfer(arguments: &[String]) -> Vec<String> {
    let own = ["--bin", "minfer", "--"].map(str::to_owned);
    command_line("run", &[&own, arguments].concat())
}

/// Cargo, once the copy is there.
fn prepared() -> Result<Command> {
    let version = pinned(&fs::read_to_string(root().join(MANIFEST))?)?.to_owned();
    copy(&version, &root().join(FOLDER)).with_context(|| format!("copying {CRATE} {version}"))?;
    Ok(cargo())
}

/// A command of cargo in the workspace.
fn command_line(command: &str, rest: &[String]) -> Vec<String> {
    let mut words = vec![command.to_owned(), "--locked".to_owned()];
    words.extend(["--manifest-path".to_owned(), root().join(MANIFEST).display().to_string()]);
    let build = root().join(FOLDER).join("build");
    words.extend(["--target-dir".to_owned(), build.display().to_string()]);
    // Shared with the workspace above: most crates of the registry are the same there.
    let shared = format!("build.build-dir={:?}", root().join("target").display().to_string());
    words.extend(["--config".to_owned(), shared]);
    words.extend(rest.iter().cloned());
    words
}

/// Cargo that runs the workspace's tests.
///
/// # Errors
/// The crate cannot be fetched or looks otherwise than expected.
pub fn tests() -> Result<Command> {
    command("test", &["--workspace", "--no-fail-fast", "--color=never"])
}

/// Cargo with a command and its arguments in the workspace.
///
/// # Errors
/// As of `tests`.
pub fn command(name: &str, rest: &[&str]) -> Result<Command> {
    let rest: Vec<String> = rest.iter().map(|&word| word.to_owned()).collect();
    let mut command = prepared()?;
    command.args(command_line(name, &rest));
    Ok(command)
}

/// The version that the manifest pins the crate to.
fn pinned(manifest: &str) -> Result<&str> {
    let start = format!("{CRATE} = {{ version = \"=");
    manifest
        .lines()
        .find_map(|line| line.strip_prefix(&start)?.split('"').next())
        .with_context(|| format!("sim/Cargo.toml has no line that begins with `{start}`"))
}

/// Makes the copy, unless this version of it is there.
fn copy(version: &str, folder: &Path) -> Result<()> {
    let target = folder.join(CRATE);
    let stamp = folder.join("copied.txt");
    if target.exists() && fs::read_to_string(&stamp).is_ok_and(|found| found == version) {
        return Ok(());
    }
    let source = fetch(version, &folder.join("fetch"))?;
    // Made beside its place and renamed, so that an interrupted copy is never taken for one.
    let work = folder.join(format!(".{CRATE}-{}", std::process::id()));
    copy_folder(&source, &work)?;
    let file = work.join(FILE);
    fs::write(&file, relinked(&fs::read_to_string(&file)?)?)?;
    if target.exists() {
        fs::remove_dir_all(&target)?;
    }
    fs::rename(&work, &target)?;
    Ok(fs::write(&stamp, version)?)
}

/// The text with its one link attribute made Apple's.
fn relinked(text: &str) -> Result<String> {
    let found = text.matches(LINK).count();
    ensure!(found == 1, "{FILE} has {found} lines `{LINK}`, expected one");
    Ok(text.replace(LINK, APPLE_LINK))
}

/// Has cargo fetch the crate, checked against the registry's sum; where its source lies.
fn fetch(version: &str, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder.join("src"))?;
    fs::write(folder.join("src/lib.rs"), "")?;
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"fetch\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         {CRATE} = {{ version = \"={version}\", default-features = false }}\n"
    );
    fs::write(&manifest, text)?;
    let metadata = MetadataCommand::new().manifest_path(&manifest).exec()?;
    let package = metadata.packages.iter().find(|package| package.name.as_str() == CRATE);
    let package = package.with_context(|| format!("cargo did not fetch {CRATE}"))?;
    let folder = package.manifest_path.parent().context("a manifest lies in a folder")?;
    Ok(folder.as_std_path().to_owned())
}

fn copy_folder(source: &Path, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let to = target.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "sim_tests.rs"]
mod tests;
