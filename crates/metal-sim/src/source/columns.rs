//! Gives tokens of preprocessed text back the columns that they have in the source.
//!
//! A preprocessor keeps lines, but squeezes spaces and moves what stands behind a macro. On a line
//! without macros every token gets its column back; on one with macros, those before the first and
//! behind the last.

use std::collections::HashMap;

use super::lexer::{self, Token};

/// Tokens of source lines: text and column, by file and line.
#[derive(Debug, Default)]
pub(crate) struct Columns<'a> {
    lines: HashMap<(String, u32), Vec<(&'a str, u32)>>,
}

impl<'a> Columns<'a> {
    /// Adds a source, whose first line is line one of `file`.
    pub(crate) fn add(&mut self, text: &'a str, file: &str) {
        let lexed = lexer::lex(text, file);
        for token in &lexed.tokens {
            let key = (lexed.files[token.file].clone(), token.line);
            self.lines.entry(key).or_default().push((token.text, token.column));
        }
    }

    /// Sets the columns of tokens. Where a token's is not known, it becomes 0.
    pub(crate) fn restore(&self, tokens: &mut [Token<'_>], files: &[String]) {
        let mut from = 0;
        while from < tokens.len() {
            let (file, line) = (tokens[from].file, tokens[from].line);
            let same = |token: &&Token<'_>| token.file == file && token.line == line;
            let count = tokens[from..].iter().take_while(same).count();
            let name = files.get(file).cloned().unwrap_or_default();
            if let Some(source) = self.lines.get(&(name, line)) {
                align(&mut tokens[from..from + count], source);
            }
            from += count;
        }
    }
}

fn align(tokens: &mut [Token<'_>], source: &[(&str, u32)]) {
    let equal = |(token, original): &(&mut Token<'_>, &(&str, u32))| token.text == original.0;
    let mut prefix = 0;
    for (token, original) in tokens.iter_mut().zip(source).take_while(equal) {
        token.column = original.1;
        prefix += 1;
    }
    let (tokens, source) = (&mut tokens[prefix..], &source[prefix..]);
    let mut suffix = 0;
    for (token, original) in tokens.iter_mut().rev().zip(source.iter().rev()).take_while(equal) {
        token.column = original.1;
        suffix += 1;
    }
    let middle = tokens.len() - suffix;
    for token in &mut tokens[..middle] {
        token.column = 0;
    }
}
