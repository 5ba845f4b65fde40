//! Writes tokens as text again, each on its line and, where that is known, in its column.
//!
//! Where text that was put in has grown past the column of what follows, a line marker begins the
//! same line anew: so a change in front of a token never moves it.

use super::lexer::{Kind, Token};
use super::wrappers::escape;

/// Blank lines that are written rather than skipped by a marker.
const BLANK_LINES: u32 = 8;

/// Text in the making.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    files: &'a [String],
    text: String,
    /// Place of the next character: file, line, column.
    at: (usize, u32, u32),
    started: bool,
}

impl<'a> Page<'a> {
    /// An empty page; `files` names what tokens refer to.
    pub(crate) fn new(files: &'a [String]) -> Self {
        Self { files, text: String::new(), at: (0, 1, 1), started: false }
    }

    /// Writes one token.
    pub(crate) fn token(&mut self, token: &Token<'_>) {
        self.move_to(token);
        self.write(token.text);
        if token.kind == Kind::Pragma {
            self.at.1 += u32::try_from(token.text.matches('\n').count()).unwrap_or(0);
        }
    }

    /// Writes generated text where `token` stands; `text` is one line, or nothing.
    pub(crate) fn insert(&mut self, text: &str, token: &Token<'_>) {
        if text.is_empty() {
            return;
        }
        self.move_to(token);
        if !self.text.ends_with([' ', '\n']) {
            self.write(" ");
        }
        self.write(text);
        self.write(" ");
    }

    /// The text, ended.
    pub(crate) fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }

    fn write(&mut self, text: &str) {
        self.text.push_str(text);
        self.at.2 += u32::try_from(text.len()).unwrap_or(0);
    }

    fn move_to(&mut self, token: &Token<'_>) {
        let (file, line, column) = self.at;
        let glued = token.spaced && column > 1 && !self.text.ends_with(' ');
        let overrun = match token.kind {
            Kind::Pragma => column > 1,
            _ if token.column == 0 => false,
            _ => column > token.column || column == token.column && glued,
        };
        let near = self.started && file == token.file && line <= token.line;
        if !near || token.line - line > BLANK_LINES {
            self.mark(token);
        } else if token.line > line {
            self.text.push_str(&"\n".repeat((token.line - line) as usize));
            self.at = (file, token.line, 1);
        } else if overrun {
            self.mark(token);
        }
        self.started = true;
        if token.column > self.at.2 {
            self.write(&" ".repeat((token.column - self.at.2) as usize));
        } else if token.spaced && self.at.2 > 1 && !self.text.ends_with(' ') {
            self.write(" ");
        }
    }

    /// Begins the token's line with a marker.
    fn mark(&mut self, token: &Token<'_>) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        let name = self.files.get(token.file).map_or("", String::as_str);
        self.text.push_str(&format!("# {} \"{}\"\n", token.line, escape(name)));
        self.at = (token.file, token.line, 1);
    }
}
