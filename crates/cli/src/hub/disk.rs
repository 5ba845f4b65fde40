//! Room on disks, asked for before much is written.

use std::path::{Path, PathBuf};

use super::repository::size;

/// A disk that does not hold what is to be written.
#[derive(Debug, thiserror::Error)]
#[error(
    "{what} needs {}, and the disk of {} has {} free: {way_out}",
    size(*.needed), .folder.display(), size(*.free)
)]
pub struct Full {
    what: String,
    folder: PathBuf,
    needed: u64,
    free: u64,
    way_out: &'static str,
}

/// Refuses what a folder's disk has no room for. Where the system does not tell, nothing is
/// refused: the write itself will fail.
///
/// # Errors
/// [`Full`]; it ends in `way_out`, which says what to do.
pub fn ensure_fits(
    what: &str,
    folder: &Path,
    needed: u64,
    way_out: &'static str,
) -> Result<(), Full> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match free(folder) {
        Some(free) if free < needed => {
            let (what, folder) = (what.to_owned(), folder.to_owned());
            Err(Full { what, folder, needed, free, way_out })
        }
        Some(_) | None => Ok(()),
    }
}

/// Bytes that this user may still write.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_folder: &Path) -> Option<u64> {
    None
}
