//! Models of the hub: which files a repository has, and those of one model into the cache.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::download::{self, Job};
use super::http::Client;
use super::reference::Repo;
use super::{Hub, cache, quant_tag};
use crate::output;

/// A file of a repository.
#[derive(Debug)]
struct Listed {
    path: String,
    bytes: Option<u64>,
    sha256: Option<String>,
}

/// Fetches a model: of a split set all files. Gives the path of the first.
///
/// # Errors
/// The hub does not answer, has no such model, or a file does not come whole.
pub fn fetch(hub: &Hub, repo: &Repo) -> Result<PathBuf> {
    let client = Client::new();
    let about =
        client.json(&format!("{}/api/models/{}/revision/main?blobs=true", hub.url, repo.name))?;
    let commit = about.get("sha").and_then(Value::as_str).context("the hub names no commit")?;
    if commit.is_empty() || !commit.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        bail!("the hub names a commit that is none: {commit:?}");
    }
    let listed = listed(&about);
    let all: Vec<&str> = listed.iter().map(|file| file.path.as_str()).collect();
    let first: Vec<&str> = all.iter().copied().filter(|path| cache::is_first(path)).collect();
    let Some(chosen) = quant_tag::choose(&first, repo.quant.as_deref()) else {
        return Err(none(repo, &first));
    };
    let set = cache::set_of(chosen, &all);
    let mut path = None;
    for (index, name) in set.iter().enumerate() {
        let Some(file) = listed.iter().find(|file| file.path == *name) else { continue };
        let size = file.bytes.map_or(String::new(), |bytes| format!(" ({})", size(bytes)));
        let part =
            if set.len() > 1 { format!(" {} of {}", index + 1, set.len()) } else { String::new() };
        output::note(&format!("fetching {} of {}{size}{part}", file.path, repo.name));
        let linked = part_of(hub, &client, repo, commit, file);
        if linked.is_err() {
            hub.cache.prune(&repo.name);
        }
        path.get_or_insert(linked?);
    }
    hub.cache.set_main(&repo.name, commit)?;
    path.context("the hub's list changed while it was read")
}

/// Fetches one file into the cache.
fn part_of(
    hub: &Hub,
    client: &Client,
    repo: &Repo,
    commit: &str,
    file: &Listed,
) -> Result<PathBuf> {
    let blob = hub.cache.blob(&repo.name, &blob_name(commit, file))?;
    let url = format!("{}/{}/resolve/{commit}/{}", hub.url, repo.name, file.path);
    let job = Job {
        url: &url,
        cache: &hub.cache,
        target: &blob,
        bytes: file.bytes,
        sha256: file.sha256.as_deref(),
        label: file.path.clone(),
    };
    download::fetch(client, &job, hub.style)?;
    hub.cache.link(&repo.name, commit, &file.path, &blob)
}

/// A blob is named by its sum; where the hub tells none, by commit and file.
fn blob_name(commit: &str, file: &Listed) -> String {
    match &file.sha256 {
        Some(sha256) => sha256.clone(),
        None => format!("{commit}-{}", file.path.replace('/', "-")),
    }
}

fn listed(about: &Value) -> Vec<Listed> {
    let siblings = about.get("siblings").and_then(Value::as_array);
    let mut files: Vec<Listed> = siblings.into_iter().flatten().filter_map(file).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// A GGUF file of the list. Its path becomes one of this machine: nothing that leads elsewhere is
/// taken.
fn file(entry: &Value) -> Option<Listed> {
    let path = entry.get("rfilename")?.as_str()?;
    let plain = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', ':', '\0'])
    };
    if !path.ends_with(".gguf") || !path.split('/').all(plain) {
        return None;
    }
    let sha256 = entry
        .pointer("/lfs/sha256")
        .and_then(Value::as_str)
        .filter(|sum| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let bytes = entry.get("size").or_else(|| entry.pointer("/lfs/size")).and_then(Value::as_u64);
    Some(Listed { path: path.to_owned(), bytes, sha256: sha256.map(str::to_ascii_lowercase) })
}

fn none(repo: &Repo, paths: &[&str]) -> anyhow::Error {
    let mut tags: Vec<String> = paths.iter().filter_map(|path| quant_tag::of(path)).collect();
    tags.dedup();
    match (&repo.quant, tags.is_empty()) {
        (_, true) => anyhow::anyhow!("{}: the repository has no GGUF files", repo.name),
        (quant, false) => anyhow::anyhow!(
            "{}: no {}; it has {}",
            repo.name,
            quant.as_deref().unwrap_or("model"),
            tags.join(", ")
        ),
    }
}

/// Bytes for people, in decimal units.
pub fn size(bytes: u64) -> String {
    let scaled = bytes as f64;
    // The limits are where rounding would give a thousand of a unit.
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..999_500 => format!("{:.0} kB", scaled / 1e3),
        999_500..9_950_000 => format!("{:.1} MB", scaled / 1e6),
        9_950_000..999_500_000 => format!("{:.0} MB", scaled / 1e6),
        _more => format!("{:.2} GB", scaled / 1e9),
    }
}
