//! Compiled libraries on disk, by a hash of all that they are made from.
//!
//! Entries appear by renaming, whole or not at all; one process makes an entry while others wait
//! for it. What was not used for longest goes when there is too much. The folder may be deleted at
//! any time by whoever owns it.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use super::notes;

/// FNV-1a of 128 bits: the same on every machine and in every version of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash(u128);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds a text and its end.
    pub(crate) fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:032x}", self.0)
    }
}

/// Bytes of libraries that are kept where no other bound is given.
pub(crate) const BOUND: u64 = 1 << 30;

/// The folder that is used where none is given: the one that `METAL_SIM_CACHE` names, else one in
/// the target folder of Cargo that this program lies in, else one in the user's cache.
pub(crate) fn default_folder() -> PathBuf {
    let folder =
        |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = folder("METAL_SIM_CACHE") {
        return named;
    }
    env::current_exe()
        .ok()
        .and_then(|program| target_folder(&program))
        .or_else(|| folder("XDG_CACHE_HOME"))
        .or_else(|| folder("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(env::temp_dir)
        .join("metal-sim")
}

/// The outermost folder above a program that Cargo has marked as a cache.
fn target_folder(program: &Path) -> Option<PathBuf> {
    let marked = |folder: &&Path| folder.join("CACHEDIR.TAG").is_file();
    program.ancestors().skip(1).filter(marked).last().map(Path::to_owned)
}

/// Notes that an entry is used now; whether it is there.
pub(crate) fn touch(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // Where it cannot be noted the entry counts as old, and is made again once it is gone.
    let _ = file.set_modified(SystemTime::now());
    true
}

/// Removes the libraries, and notes, that were not used for longest, until the others fit into
/// `bound` bytes. What a process has loaded stays until it lets go.
pub(crate) fn prune(folder: &Path, bound: u64) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let library = |entry: fs::DirEntry| {
        let path = entry.path();
        let data = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let extension = path.extension()?.to_str()?;
        let known = extension == "so" || notes::EXTENSIONS.contains(&extension);
        known.then_some((data.modified().ok()?, data.len(), path))
    };
    let mut libraries: Vec<_> = entries.filter_map(|entry| library(entry.ok()?)).collect();
    libraries.sort();
    let mut total: u64 = libraries.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in libraries {
        if total <= bound {
            break;
        }
        // Another process may have been faster.
        let _ = fs::remove_file(lock_path(&path));
        let _ = fs::remove_file(&path);
        total -= bytes;
    }
}

/// Makes a file or folder at `path`: `make` writes it under another name, then it is renamed.
pub(crate) fn publish(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let (temporary, made) = (temporary(path), |path: &Path| {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        make(path)
    });
    let result = made(&temporary).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // A folder that another process has made meanwhile is as good.
        let _ = fs::remove_dir_all(&temporary);
        let _ = fs::remove_file(&temporary);
        if path.is_dir() {
            return Ok(());
        }
    }
    result
}

/// A name beside `path` that no one else uses.
pub(crate) fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{count}", process::id()));
    path.with_file_name(name)
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    path.with_file_name(name)
}

/// Keeps others, threads and processes, from making the entry at `path` while it lives.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let file = File::create(lock_path(path))?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
