//! One file from an address to its place: resumed where an earlier attempt ended, checked, renamed
//! at once.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::cache::Cache;
use super::checksum::Sum;
use super::http::Client;
use super::repository::size;
use super::{disk, partial};
use crate::output::{self, Style};

/// Attempts that bring nothing before it is given up.
const IDLE_TRIES: u32 = 3;

/// A file to fetch.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its address.
    pub url: &'a str,
    /// The cache that it goes into.
    pub cache: &'a Cache,
    /// Where it goes.
    pub target: &'a Path,
    /// Its size, where it is known.
    pub bytes: Option<u64>,
    /// Its sum, where it is known.
    pub sha256: Option<&'a str>,
    /// What progress calls it.
    pub label: String,
}

/// Fetches a file. What has come stays beside its place when it breaks off, and the next fetch goes
/// on from there.
///
/// # Errors
/// No answer, an answer that is not the file, a sum that is wrong, or a full disk.
pub fn fetch(client: &Client, job: &Job<'_>, style: Style) -> Result<()> {
    let _lock = partial::Lock::take(job.cache, job.target)?;
    if job.target.exists() {
        return Ok(());
    }
    let partial = partial::of(job.target);
    let Err(error) = complete(client, job, &partial, style) else { return Ok(()) };
    match partial::bytes(&partial) {
        0 => {
            let _ = fs::remove_file(&partial);
            Err(error)
        }
        kept => {
            let came = format!("{} came, and the next attempt goes on from there", size(kept));
            Err(error.context(came))
        }
    }
}

fn complete(client: &Client, job: &Job<'_>, partial: &Path, style: Style) -> Result<()> {
    let mut sum = Sum::new();
    let mut have = if partial.exists() { sum.add_file(partial)? } else { 0 };
    if have > 0 {
        output::note(&format!("going on after {} of an earlier attempt", size(have)));
    }
    if let (Some(bytes), Some(folder)) = (job.bytes, partial.parent()) {
        let way_out = "--cache-dir DIR names another folder";
        disk::ensure_fits(&job.label, folder, bytes.saturating_sub(have), way_out)?;
    }
    let bar = style.bytes(job.label.clone(), job.bytes.unwrap_or(0));
    let mut idle = 0;
    while job.bytes.is_none_or(|bytes| have < bytes) || have == 0 {
        let before = have;
        let result = attempt(client, job, partial, &mut sum, &mut have, &mut |at| bar.at(at));
        idle = if have > before { 0 } else { idle + 1 };
        match result {
            Ok(()) => break,
            Err(error) if idle >= IDLE_TRIES || !is_passing(&error) => {
                return Err(error.context(format!("fetching {}", job.url)));
            }
            Err(error) => tracing::debug!(%error, have, "going on after an interruption"),
        }
    }
    check(job, partial, have, sum)?;
    fs::rename(partial, job.target)
        .with_context(|| format!("renaming {} to {}", partial.display(), job.target.display()))
}

/// Failures that another attempt may get over.
#[derive(Debug, thiserror::Error)]
#[error("the connection broke: {0}")]
struct Broken(String);

fn is_passing(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Broken>())
}

/// One request, from where the file ends.
fn attempt(
    client: &Client,
    job: &Job<'_>,
    partial: &Path,
    sum: &mut Sum,
    have: &mut u64,
    progress: &mut dyn FnMut(u64),
) -> Result<()> {
    let mut response = client.get(job.url, *have)?;
    match response.status().as_u16() {
        206 => {}
        200 => {
            // The server does not resume: from the start again.
            *sum = Sum::new();
            *have = 0;
        }
        // Nothing is left to send: the sum will tell whether that is right.
        416 if *have > 0 => return Ok(()),
        429 | 500..=599 => bail!(Broken(format!("status {}", response.status()))),
        status => bail!("expected the file, found status {status}"),
    }
    let mut file = OpenOptions::new()
        .create(true)
        .append(*have > 0)
        .write(true)
        .truncate(*have == 0)
        .open(partial)
        .with_context(|| format!("opening {}", partial.display()))?;
    let mut body = response.body_mut().as_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = body.read(&mut buffer).map_err(|error| Broken(error.to_string()))?;
        if read == 0 {
            break;
        }
        file.write_all(&buffer[..read])
            .with_context(|| format!("writing {}", partial.display()))?;
        sum.add(&buffer[..read]);
        *have += read as u64;
        progress(*have);
        if job.bytes.is_some_and(|bytes| *have > bytes) {
            break;
        }
    }
    file.sync_all().with_context(|| format!("writing {}", partial.display()))?;
    match job.bytes {
        Some(bytes) if *have < bytes => bail!(Broken(format!("{have} of {bytes} bytes came"))),
        Some(_) | None => Ok(()),
    }
}

/// A file that is not what was promised is thrown away: going on with it could never succeed.
fn check(job: &Job<'_>, partial: &Path, have: u64, sum: Sum) -> Result<()> {
    let found = sum.finish();
    let right = job.bytes.is_none_or(|bytes| bytes == have);
    let same = job.sha256.is_none_or(|sha256| sha256.eq_ignore_ascii_case(&found));
    if !right || !same {
        let _ = fs::remove_file(partial);
    }
    if let Some(bytes) = job.bytes {
        ensure!(right, "{}: expected {bytes} bytes, found {have}; removed", job.url);
    }
    if let Some(sha256) = job.sha256 {
        ensure!(same, "{}: expected sha256 {sha256}, found {found}; removed, try again", job.url);
    }
    Ok(())
}
