//! What is known of a source as it was given: that it was checked, and which library it becomes.
//!
//! A note spares the runs of the compiler that lead to a library's hash. It is on disk beside the
//! libraries, by a hash of all that decides: source, flags, headers, compiler and this crate's own
//! text. Sources that include files have none, since those may change.

use std::fs;
use std::path::{Path, PathBuf};

use super::cache::{Hash, publish, touch};
use super::shim::NAMES;
use crate::library::Mode;

macro_rules! texts {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../", $path)))),*] };
}

/// What makes text for the compiler and judges what it says, by path in `src/`.
const MAKERS: &[(&str, &str)] = &texts![
    "compile/compiler.rs",
    "compile/diagnostics.rs",
    "compile/flags.rs",
    "compile/strict.rs",
    "source/attributes.rs",
    "source/columns.rs",
    "source/declarations.rs",
    "source/fault.rs",
    "source/functions.rs",
    "source/kernels.rs",
    "source/lexer.rs",
    "source/lint.rs",
    "source/mod.rs",
    "source/render.rs",
    "source/rewrite.rs",
    "source/signature.rs",
    "source/vectors.rs",
    "source/wrappers.rs",
];

/// Notes about one source.
#[derive(Debug)]
pub(crate) struct Notes {
    folder: PathBuf,
    /// None where nothing is noted.
    hash: Option<Hash>,
}

impl Notes {
    /// About a source, compiled under conditions that `hash` and `words` tell.
    pub(crate) fn new<'a>(
        folder: &Path,
        text: &'a str,
        mut hash: Hash,
        words: impl Iterator<Item = &'a str>,
    ) -> Self {
        let makers = MAKERS.iter().map(|(_, text)| *text);
        words.chain(makers).chain([text]).for_each(|word| hash.add(word));
        let hash = is_whole(text).then_some(hash);
        Self { folder: folder.to_owned(), hash }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(format!("{}.{name}", self.hash?)))
    }

    /// Whether the source was checked, and is right.
    pub(crate) fn is_checked(&self) -> bool {
        self.path(CHECKED).is_some_and(|path| path.is_file() && touch(&path))
    }

    /// Notes that it is.
    pub(crate) fn set_checked(&self) {
        self.put(CHECKED, "");
    }

    /// The library that it becomes.
    pub(crate) fn library(&self, mode: Mode) -> Option<PathBuf> {
        let path = self.path(extension(mode))?;
        let name = fs::read_to_string(&path).ok()?;
        let library = self.folder.join(name);
        (touch(&path) && touch(&library)).then_some(library)
    }

    /// Notes which.
    pub(crate) fn set_library(&self, mode: Mode, library: &Path) {
        if let Some(name) = library.file_name().and_then(|name| name.to_str()) {
            self.put(extension(mode), name);
        }
    }

    /// Without a note the next process does the work again; so a failure does no harm.
    fn put(&self, name: &str, text: &str) {
        if let Some(path) = self.path(name) {
            let _ = publish(&path, |path| fs::write(path, text));
        }
    }
}

const CHECKED: &str = "checked";

/// Names of notes, which go as libraries do when there is too much.
pub(crate) const EXTENSIONS: [&str; 3] = [CHECKED, "is_fast", "is_checked"];

fn extension(mode: Mode) -> &'static str {
    match mode {
        Mode::Fast => "is_fast",
        Mode::Checked => "is_checked",
    }
}

/// Whether a source depends on no file but the language's own headers.
fn is_whole(text: &str) -> bool {
    let directive =
        |line: &str| line.trim_start().strip_prefix('#').map(|rest| rest.trim().to_owned());
    let own = |line: String| {
        let Some(file) = line.strip_prefix("include") else { return !line.starts_with("import") };
        let name = file.trim().strip_prefix('<').and_then(|file| file.split('>').next());
        name.is_some_and(|name| NAMES.contains(&name))
    };
    !text.contains("__has_include") && text.lines().filter_map(directive).all(own)
}

#[cfg(test)]
#[path = "notes_tests.rs"]
mod tests;
