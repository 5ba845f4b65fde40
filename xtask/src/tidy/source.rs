//! The files that rules look at, read and parsed once.

use super::Finding;
use anyhow::Result;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// A token with the line it starts on; delimiters are tokens too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// As written; a literal with its quotes.
    pub text: String,
    /// From one.
    pub line: usize,
}

/// A text file of the repository.
pub struct Source {
    /// From the root, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// The parsed file, when it is Rust and has no syntax error.
    pub syntax: Option<syn::File>,
    /// All tokens in order, also those inside macros; empty when it is not Rust.
    pub tokens: Vec<Token>,
    test_lines: Vec<RangeInclusive<usize>>,
}

/// Folders that hold nothing of ours, or data that is as it is.
const SKIPPED: [&str; 8] =
    [".git", ".venv", "__pycache__", "corpus", "data", "fixtures", "node_modules", "target"];

/// Kinds of text that rules look at.
const KINDS: [&str; 7] = ["in", "md", "py", "rs", "sh", "toml", "yml"];

impl Source {
    /// Reads `text` as the file at `path`.
    pub fn new(path: &str, text: &str) -> Self {
        let stream = path.ends_with(".rs").then(|| text.parse::<TokenStream>().ok()).flatten();
        let mut tokens = Vec::new();
        if let Some(stream) = &stream {
            flatten(stream.clone(), &mut tokens);
        }
        let syntax = stream.and_then(|stream| syn::parse2(stream).ok());
        let mut tests = TestLines(Vec::new());
        if let Some(syntax) = &syntax {
            tests.visit_file(syntax);
        }
        let (path, text) = (path.to_owned(), text.to_owned());
        Self { path, text, syntax, tokens, test_lines: tests.0 }
    }

    /// Whether the file is Rust.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether the whole file is only built for tests.
    pub fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("tests.rs")
    }

    /// Whether this line is only built for tests.
    pub fn is_test_line(&self, line: usize) -> bool {
        self.is_test() || self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// The crate's folder name: `quant` for `crates/quant/…`, `xtask` for `xtask/…`.
    pub fn crate_name(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or(path)
    }

    /// A finding when the file is Rust that does not parse.
    pub fn unreadable(&self) -> Option<Finding> {
        let broken = self.is_rust() && self.syntax.is_none();
        broken.then(|| Finding::new(&self.path, 0, "syntax", "does not parse as Rust"))
    }
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                tokens.push(Token { text: open.to_owned(), line });
                flatten(group.stream(), tokens);
                let line = group.span_close().end().line;
                tokens.push(Token { text: close.to_owned(), line });
            }
            other => tokens.push(Token { text: other.to_string(), line }),
        }
    }
}

/// Collects the lines of items under `#[cfg(test)]`.
struct TestLines(Vec<RangeInclusive<usize>>);

impl<'ast> Visit<'ast> for TestLines {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs[..],
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => &[],
        };
        let only_tests = attributes.iter().any(|attribute| {
            attribute.path().is_ident("test")
                || attribute.path().is_ident("cfg")
                    && attribute.parse_args::<syn::Ident>().is_ok_and(|name| name == "test")
        });
        if only_tests {
            self.0.push(item.span().start().line..=item.span().end().line);
        }
        visit::visit_item(self, item);
    }
}

/// Every file below `root`, but for build output and version control, from the root, sorted.
pub fn paths(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    walk(root, "", &[".git", "target", ".venv", "__pycache__", "node_modules"], &mut found)?;
    Ok(found)
}

/// Every text file that rules look at.
pub fn load(root: &Path) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    walk(root, "", &SKIPPED, &mut found)?;
    let kind = |path: &str| path.rsplit('.').next().is_some_and(|kind| KINDS.contains(&kind));
    let mut sources = Vec::new();
    for path in found.iter().filter(|path| kind(path) || path.as_str() == ".ci/run") {
        sources.push(Source::new(path, &fs::read_to_string(root.join(path))?));
    }
    Ok(sources)
}

fn walk(root: &Path, below: &str, skipped: &[&str], found: &mut Vec<String>) -> Result<()> {
    let mut entries = fs::read_dir(root.join(below))?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        if !entry.file_type()?.is_dir() {
            found.push(path);
        } else if !skipped.contains(&name.as_str()) {
            walk(root, &path, skipped, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
