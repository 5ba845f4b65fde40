//! System symbols by library: the list, the stubs written from it, what a program uses.

use anyhow::{Context as _, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// The library that holds what the standard library asks for.
pub const SYSTEM: &str = "/usr/lib/libSystem.B.dylib";

/// A library of macOS by its path there, and symbols of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    pub path: String,
    pub symbols: BTreeSet<String>,
}

/// A symbol that only one side has.
#[derive(Debug, PartialEq, Eq)]
pub enum Difference {
    /// The program uses it.
    Unlisted { library: String, symbol: String },
    /// The list has it.
    Unused { library: String, symbol: String },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Unlisted { library, symbol } => {
                write!(f, "{symbol} is used and not listed ({library})")
            }
            Difference::Unused { library, symbol } => {
                write!(f, "{symbol} of {library} is listed and not used")
            }
        }
    }
}

impl Difference {
    /// Whether another version of the standard library may be all that is behind it.
    pub fn may_be_of_std(&self) -> bool {
        match self {
            Difference::Unlisted { library, .. } => library == UNKNOWN,
            Difference::Unused { library, .. } => library == SYSTEM,
        }
    }
}

/// Where a symbol is looked for that no stub has.
const UNKNOWN: &str = "no listed library has it";

/// Reads the list: a library's path at the start of a line, its symbols on indented ones. A library
/// without symbols is one that is linked and asked for nothing.
pub fn parse(text: &str) -> Result<Vec<Library>> {
    let mut libraries: Vec<Library> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        if line.trim().is_empty() {
            continue;
        }
        if line.starts_with('/') {
            let path = line.trim().to_owned();
            ensure!(
                libraries.iter().all(|library| library.path != path),
                "line {}: {path} a second time",
                number + 1
            );
            libraries.push(Library { path, symbols: BTreeSet::new() });
            continue;
        }
        let library = libraries.last_mut();
        let library = library.with_context(|| format!("line {}: of no library", number + 1))?;
        for symbol in line.split_whitespace() {
            ensure!(
                library.symbols.insert(symbol.to_owned()),
                "line {}: {symbol} a second time",
                number + 1
            );
        }
    }
    Ok(libraries)
}

impl Library {
    /// Where a linker looks for its stub, in an SDK: `usr/lib/libobjc.tbd` for
    /// `/usr/lib/libobjc.A.dylib`.
    pub fn stub_path(&self) -> Result<String> {
        let path = self.path.trim_start_matches('/');
        if let Some((folder, file)) = path.rsplit_once('/') {
            if let Some((framework, _)) = folder.split_once(".framework/Versions/") {
                return Ok(format!("{framework}.framework/{file}.tbd"));
            }
            if let Some(name) = file.strip_suffix(".dylib") {
                let name = name.split('.').next().unwrap_or(name);
                return Ok(format!("{folder}/{name}.tbd"));
            }
        }
        bail!("{}: neither a framework nor a dylib", self.path);
    }

    /// The stub, in the format of text-based stubs, version 4.
    pub fn stub(&self) -> String {
        let mut text = format!(
            "--- !tapi-tbd\ntbd-version: 4\ntargets: [ arm64-macos ]\ninstall-name: '{}'\n\
             current-version: 1\ncompatibility-version: 1\n",
            self.path
        );
        if !self.symbols.is_empty() {
            text += "exports:\n  - targets: [ arm64-macos ]\n    symbols: [";
            for (index, symbol) in self.symbols.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                // Writing to a string cannot fail.
                let _ = write!(text, "{comma} '{symbol}'");
            }
            text += " ]\n";
        }
        text + "...\n"
    }

    /// How `llvm-nm -m` calls it.
    fn short_name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.split('.').next().unwrap_or(file)
    }
}

/// Reads `llvm-nm -m --undefined-only`: lines of `(undefined) external _free (from libSystem)`.
pub fn used(text: &str) -> Result<Vec<Library>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| line.contains("(undefined)")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let external = words.iter().position(|word| *word == "external");
        let symbol = external.and_then(|at| words.get(at + 1));
        let symbol = symbol.with_context(|| format!("no symbol in {line:?}"))?;
        let from = line.split_once("(from ").and_then(|(_, rest)| rest.split_once(')'));
        let library = from.map_or("", |(library, _)| library);
        found.entry(library.to_owned()).or_default().insert((*symbol).to_owned());
    }
    Ok(found.into_iter().map(|(path, symbols)| Library { path, symbols }).collect())
}

/// What only one of both has. The libraries of `used` go by their short names.
pub fn differences(listed: &[Library], used: &[Library]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for library in used {
        let known = listed.iter().find(|known| known.short_name() == library.path);
        let name = known.map_or(UNKNOWN, |known| &known.path);
        let is_known = |symbol: &String| known.is_some_and(|known| known.symbols.contains(symbol));
        for symbol in library.symbols.iter().filter(|symbol| !is_known(symbol)) {
            let (library, symbol) = (name.to_owned(), symbol.clone());
            differences.push(Difference::Unlisted { library, symbol });
        }
    }
    for library in listed {
        let found = used.iter().find(|found| library.short_name() == found.path);
        let is_used = |symbol: &String| found.is_some_and(|found| found.symbols.contains(symbol));
        for symbol in library.symbols.iter().filter(|symbol| !is_used(symbol)) {
            let (library, symbol) = (library.path.clone(), symbol.clone());
            differences.push(Difference::Unused { library, symbol });
        }
    }
    differences
}
