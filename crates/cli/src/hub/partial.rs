//! Fetches that have not ended: what stands in for a blob until it is whole.
//!
//! `BLOB.incomplete` is the beginning of a file, or for PyPI a folder of packages; the next fetch
//! goes on with it. `BLOB.lock` keeps other processes away while one works, and goes with it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::cache::{self, Cache};

const ENDING: &str = ".incomplete";
/// Deepest folder of packages that is looked into.
const DEPTH_MAX: usize = 6;

/// Where a blob is put together.
pub fn of(blob: &Path) -> PathBuf {
    with_ending(blob, ENDING)
}

/// Bytes of a file, or of all files in a folder.
pub fn bytes(path: &Path) -> u64 {
    sizes(path, DEPTH_MAX).iter().sum()
}

/// Bytes of the largest file in a folder.
pub fn largest(folder: &Path) -> u64 {
    sizes(folder, DEPTH_MAX).into_iter().max().unwrap_or(0)
}

fn sizes(path: &Path, depth: usize) -> Vec<u64> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() && depth > 0 => {
            let children = cache::children(path);
            children.iter().flat_map(|child| sizes(child, depth - 1)).collect()
        }
        Ok(data) if data.is_file() => vec![data.len()],
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// The right to work on a blob; given back when this is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    // Held open: the system frees the lock with it.
    _file: File,
}

impl Lock {
    /// Waits until no other process works on a blob.
    ///
    /// # Errors
    /// The cache cannot be written to.
    pub fn take(cache: &Cache, blob: &Path) -> Result<Lock> {
        let path = with_ending(blob, ".lock");
        loop {
            let file = File::create(&path).map_err(|error| cache.unwritable(&path, &error))?;
            file.lock().context("waiting for another process that fetches the same file")?;
            // Whoever held it may have removed the file that was waited for.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file });
            }
        }
    }

    /// Takes a lock that nobody holds.
    fn try_take(blob: &Path) -> Result<Lock> {
        let path = with_ending(blob, ".lock");
        let file = File::create(&path).with_context(|| format!("creating {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { path, _file: file }),
            Err(TryLockError::WouldBlock) => bail!("another process is fetching it"),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("locking {}", path.display()))
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock file that stays is in nobody's way.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        (Ok(_) | Err(_), _) => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// What earlier fetches of a repository have left.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// The repository.
    pub repo: String,
    /// Bytes that came.
    pub bytes: u64,
    blobs: Vec<PathBuf>,
}

impl Unfinished {
    /// What is left in a repository's folder, if anything is.
    pub fn find(repo: &str, folder: &Path) -> Option<Unfinished> {
        let left = cache::children(&folder.join("blobs"));
        let blobs: Vec<PathBuf> = left
            .iter()
            .filter_map(|path| Some(PathBuf::from(path.to_str()?.strip_suffix(ENDING)?)))
            .collect();
        let bytes = blobs.iter().map(|blob| bytes(&of(blob))).sum();
        (!blobs.is_empty()).then(|| Unfinished { repo: repo.to_owned(), bytes, blobs })
    }

    /// Removes it.
    ///
    /// # Errors
    /// Another process works on it, or a file cannot be removed.
    pub fn remove(&self, cache: &Cache) -> Result<()> {
        for blob in &self.blobs {
            let _lock = Lock::try_take(blob).with_context(|| self.repo.clone())?;
            let left = of(blob);
            let removed =
                if left.is_dir() { fs::remove_dir_all(&left) } else { fs::remove_file(&left) };
            removed.with_context(|| format!("removing {}", left.display()))?;
        }
        cache.prune(&self.repo);
        Ok(())
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
