//! Hugging Face's cache: `models--USER--REPO/{blobs,refs,snapshots}`, shared with whoever else uses
//! it.
//!
//! A file is a blob named by its sum; a snapshot is a folder of links to blobs; a ref names a
//! snapshot.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result};

use super::partial::Unfinished;
use super::reference::Repo;
use super::{Found, Origin, quant_tag};
use crate::flags::settings::variable;

/// Deepest folder in a snapshot that is looked into.
const DEPTH_MAX: usize = 4;

/// The cache's folder.
#[derive(Clone, Debug)]
pub struct Cache(PathBuf);

/// A cache that nothing can be put into.
#[derive(Debug, thiserror::Error)]
#[error(
    "the cache {cache} cannot be written to ({path}: {cause}): \
     --cache-dir DIR or HF_HUB_CACHE names another folder"
)]
pub struct Unwritable {
    cache: String,
    path: String,
    cause: String,
}

impl Cache {
    /// The folder that is given, or the one that the environment names.
    ///
    /// # Errors
    /// There is no home.
    pub fn new(given: Option<PathBuf>) -> Result<Cache> {
        let home = || Some(PathBuf::from(variable("HOME")?).join(".cache/huggingface/hub"));
        let folder = given
            .or_else(|| variable("HF_HUB_CACHE").map(PathBuf::from))
            .or_else(|| variable("HF_HOME").map(|home| Path::new(&home).join("hub")))
            .or_else(home)
            .context("HOME is not set: say where models go with --cache-dir")?;
        Ok(Cache(folder))
    }

    /// The folder of a repository.
    pub fn repo(&self, name: &str) -> PathBuf {
        self.0.join(format!("models--{}", name.replace('/', "--")))
    }

    /// The cache's own folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The error of a path that could not be written.
    pub fn unwritable(&self, path: &Path, cause: &io::Error) -> Unwritable {
        let (cache, path) = (self.0.display().to_string(), path.display().to_string());
        Unwritable { cache, path, cause: cause.to_string() }
    }

    fn make(&self, folder: &Path) -> Result<(), Unwritable> {
        fs::create_dir_all(folder).map_err(|error| self.unwritable(folder, &error))
    }

    /// Makes place for a blob, and says where it goes.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn blob(&self, repo: &str, sum: &str) -> Result<PathBuf, Unwritable> {
        let folder = self.repo(repo).join("blobs");
        self.make(&folder)?;
        Ok(folder.join(sum))
    }

    /// Removes the folders of a repository that hold nothing.
    pub fn prune(&self, repo: &str) {
        let folder = self.repo(repo);
        // Folders that hold something refuse, which is what is wanted.
        let _ = fs::remove_dir(folder.join("blobs"));
        let _ = fs::remove_dir(folder);
    }

    /// Shows a blob as `file` of a snapshot, and gives its path.
    ///
    /// # Errors
    /// The link cannot be made.
    pub fn link(&self, repo: &str, commit: &str, file: &str, blob: &Path) -> Result<PathBuf> {
        let path = self.repo(repo).join("snapshots").join(commit).join(file);
        let folder = path.parent().context("a snapshot's file has a folder")?;
        self.make(folder)?;
        if !path.exists() {
            // A link that leads nowhere is in the way.
            let _ = fs::remove_file(&path);
            let up = "../".repeat(2 + file.matches('/').count());
            let name = blob.file_name().unwrap_or_default();
            let target = Path::new(&up).join("blobs").join(name);
            link(&target, blob, &path).with_context(|| format!("linking {}", path.display()))?;
        }
        Ok(path)
    }

    /// Makes a snapshot the one of `main`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set_main(&self, repo: &str, commit: &str) -> Result<()> {
        let folder = self.repo(repo).join("refs");
        self.make(&folder)?;
        let path = folder.join("main");
        Ok(fs::write(&path, commit).map_err(|error| self.unwritable(&path, &error))?)
    }

    /// The file of a repository that is at hand.
    pub fn find(&self, repo: &Repo) -> Option<PathBuf> {
        let files = self.files(&self.repo(&repo.name));
        let texts: Vec<&str> =
            files.iter().filter_map(|path| path.to_str()).filter(|p| is_first(p)).collect();
        quant_tag::choose(&texts, repo.quant.as_deref()).map(PathBuf::from)
    }

    /// Every model in the cache.
    pub fn found(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for (repo, folder) in self.repos() {
            let files = self.files(&folder);
            for path in files.iter().filter(|path| is_first(&path.to_string_lossy())) {
                found.push(Found {
                    name: named(&repo, path),
                    bytes: set_bytes(path, &files),
                    path: path.clone(),
                    origin: Origin::HuggingFace,
                });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found.dedup_by(|a, b| a.name == b.name);
        found
    }

    /// What earlier fetches have left.
    pub fn unfinished(&self) -> Vec<Unfinished> {
        let repos = self.repos();
        repos.iter().filter_map(|(repo, folder)| Unfinished::find(repo, folder)).collect()
    }

    /// The repositories in the cache, with their folders.
    fn repos(&self) -> Vec<(String, PathBuf)> {
        let named = |folder: PathBuf| {
            let name = folder.file_name()?.to_str()?.strip_prefix("models--")?.replace("--", "/");
            Some((name, folder))
        };
        children(&self.0).into_iter().filter_map(named).collect()
    }

    /// The model files of a repository's snapshots: those of `main` first.
    fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let main = fs::read_to_string(folder.join("refs/main")).unwrap_or_default();
        let mut snapshots = children(&folder.join("snapshots"));
        snapshots.sort_by_key(|path| path.file_name().unwrap_or_default() != main.trim());
        let mut files = Vec::new();
        for snapshot in &snapshots {
            gguf_files(snapshot, DEPTH_MAX, &mut files);
        }
        files
    }

    /// Removes a model: its links, and the blobs that nothing else links to. Gives the bytes that
    /// are free again.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn remove(&self, found: &Found) -> Result<u64> {
        let Some(repo) = self.repo_of(&found.path) else { return Ok(0) };
        let stem = found.path.to_string_lossy().into_owned();
        let prefix = split_prefix(&stem).unwrap_or(&stem).to_owned();
        let files = self.files(&repo);
        let belongs = |path: &&PathBuf| path.to_string_lossy().starts_with(&prefix);
        let mut freed = 0;
        for path in files.iter().filter(belongs) {
            let blob = fs::canonicalize(path).ok();
            fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
            let Some(blob) = blob.filter(|blob| blob.exists()) else { continue };
            let used = |other: &PathBuf| fs::canonicalize(other).is_ok_and(|target| target == blob);
            if !self.files(&repo).iter().any(used) {
                freed += fs::metadata(&blob).map_or(0, |data| data.len());
                fs::remove_file(&blob).with_context(|| format!("removing {}", blob.display()))?;
            }
        }
        if self.files(&repo).is_empty() {
            fs::remove_dir_all(&repo).with_context(|| format!("removing {}", repo.display()))?;
        }
        Ok(freed)
    }

    fn repo_of(&self, path: &Path) -> Option<PathBuf> {
        let inside = path.strip_prefix(&self.0).ok()?;
        Some(self.0.join(inside.components().next()?))
    }
}

/// `user/repo:TAG`, or the repository alone where the file has no tag.
fn named(repo: &str, path: &Path) -> String {
    match quant_tag::of(&path.to_string_lossy()) {
        Some(tag) => format!("{repo}:{tag}"),
        None => repo.to_owned(),
    }
}

/// The part of a split set's path that all its parts share.
fn split_prefix(path: &str) -> Option<&str> {
    let stem = path.strip_suffix(".gguf")?;
    let (front, count) = stem.rsplit_once("-of-")?;
    let (front, number) = front.rsplit_once('-')?;
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(count) && digits(number)).then_some(front)
}

/// Whether a file is one to open: not a later part of a split set, and no projector of images.
pub fn is_first(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let later = split_prefix(path).is_some_and(|front| !path[front.len()..].starts_with("-00001-"));
    !later && !name.to_ascii_lowercase().contains("mmproj")
}

/// The files of the set that `first` begins.
pub fn set_of<'p>(first: &str, paths: &[&'p str]) -> Vec<&'p str> {
    let belongs = |path: &&str| match split_prefix(first) {
        Some(prefix) => split_prefix(path) == Some(prefix),
        None => *path == first,
    };
    paths.iter().copied().filter(belongs).collect()
}

fn set_bytes(first: &Path, files: &[PathBuf]) -> u64 {
    let texts: Vec<&str> = files.iter().filter_map(|path| path.to_str()).collect();
    let set = set_of(&first.to_string_lossy(), &texts);
    set.iter().filter_map(|path| fs::metadata(path).ok()).map(|data| data.len()).sum()
}

/// What is in a folder, in order; nothing of one that is not there.
pub fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The GGUF files in a folder and those below it.
pub fn gguf_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    for path in children(folder) {
        if path.is_dir() && depth > 0 {
            gguf_files(&path, depth - 1, files);
        } else if path.extension().is_some_and(|ending| ending == "gguf") && path.is_file() {
            files.push(path);
        }
    }
}

#[cfg(unix)]
fn link(target: &Path, _blob: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(not(unix))]
fn link(_target: &Path, blob: &Path, path: &Path) -> io::Result<()> {
    fs::hard_link(blob, path)
}
