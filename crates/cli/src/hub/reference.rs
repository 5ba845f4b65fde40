//! What a model can be called: a path, a catalog name, `user/repo:quant`, or the name of one at
//! hand.

use std::fmt;
use std::path::PathBuf;

use anyhow::Result;

use super::Found;
use super::catalog::{self, Entry};
use crate::failure::usage;

/// A model on the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repo {
    /// `user/repo`.
    pub name: String,
    /// Which of its files: `Q4_K_M`, in any case.
    pub quant: Option<String>,
}

impl Repo {
    /// Reads `user/repo` or `user/repo:quant`, also as an address of the hub.
    ///
    /// # Errors
    /// It is something else.
    pub fn parse(text: &str) -> Result<Repo> {
        let bare = ["https://huggingface.co/", "huggingface.co/", "hf.co/"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .unwrap_or(text);
        let (name, quant) = match bare.split_once(':') {
            Some((name, quant)) => (name, Some(quant.to_owned())),
            None => (bare, None),
        };
        let good = |part: &str| {
            let known = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !part.is_empty()
                && part.chars().all(known)
                && !part.starts_with('.')
                && !part.contains("--")
        };
        let parts: Vec<&str> = name.trim_end_matches('/').split('/').collect();
        let quant_good = quant.as_deref().is_none_or(good);
        match parts.as_slice() {
            [user, repo] if good(user) && good(repo) && quant_good => {
                Ok(Repo { name: format!("{user}/{repo}"), quant })
            }
            _other => Err(usage(format!(
                "{text:?}: expected user/repo or user/repo:quant; files and names of \
                 `minfer list` go with -m"
            ))),
        }
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.quant {
            Some(quant) => write!(f, "{}:{quant}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What a model is called.
#[derive(Clone, Debug)]
pub enum Reference {
    /// A file.
    Path(PathBuf),
    /// A name of the catalog.
    Catalog(&'static Entry),
    /// A model on the hub.
    Repo(Repo),
    /// Another word: a model at hand.
    Name(String),
}

impl Reference {
    /// Tells the kinds apart: an existing file, a path by its looks, a catalog name, a repository,
    /// a word.
    ///
    /// # Errors
    /// It looks like a repository and is none.
    pub fn parse(text: &str) -> Result<Reference> {
        let path = PathBuf::from(text);
        let looks = text.to_ascii_lowercase().ends_with(".gguf")
            || text.starts_with(['.', '/', '~'])
            || text.contains('\\');
        if path.exists() || looks {
            return Ok(Reference::Path(path));
        }
        if let Some(entry) = catalog::find(text) {
            return Ok(Reference::Catalog(entry));
        }
        if text.contains('/') {
            return Ok(Reference::Repo(Repo::parse(text)?));
        }
        Ok(Reference::Name(text.to_owned()))
    }

    /// What the cache may call it.
    pub fn repos(&self) -> Vec<String> {
        match self {
            Reference::Catalog(entry) => entry.repos().map(|repo| repo.name).collect(),
            Reference::Repo(repo) => vec![repo.name.clone()],
            Reference::Path(_) | Reference::Name(_) => Vec::new(),
        }
    }
}

/// Whether a model at hand answers to a word: its name, its name with Ollama's usual tag, or its
/// file's.
pub fn is_named(found: &Found, word: &str) -> bool {
    let file = found.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    found.name.eq_ignore_ascii_case(word)
        || found.name.eq_ignore_ascii_case(&format!("{word}:latest"))
        || file.is_some_and(|stem| stem.eq_ignore_ascii_case(word))
}
