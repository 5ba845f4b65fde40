//! Splitting text into words, before byte-pair merges work inside each word.
//!
//! Each vocabulary was trained with a rule of its own, and merges never cross the borders that it
//! draws, so a wrong rule gives other ids without any error. A [`Rule`] is a row of [`rules`]: one
//! or more passes of a regular expression, each splitting the pieces of the one before into its
//! matches and what lies between them.
//!
//! The published rules are written for backtracking engines, which overflow or give up on long
//! runs of one character. Their only need for that is the branch `\s+(?!\S)`, which leaves the
//! last space of a run to the word behind it. Here the branch is `\s+`, matched in linear time,
//! and [`Spaces::LeaveLast`] gives the last space back.

mod rules;

use std::ops::Range;

use regex::Regex;

pub(crate) use rules::{GEMMA_4, RULES};

/// One word-splitting rule, by the names that files give it.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Values of `tokenizer.ggml.pre`.
    pub(crate) names: &'static [&'static str],
    /// Applied in order.
    pub(crate) passes: &'static [Pass],
    /// Whether a word that is a token is that token, whatever its merges would give.
    pub(crate) whole_words: bool,
    /// Whether the begin token stands before a prompt when the file does not say.
    pub(crate) add_bos: bool,
}

/// One regular expression of a rule.
#[derive(Debug)]
pub(crate) struct Pass {
    /// In the syntax of the `regex` crate.
    pub(crate) pattern: &'static str,
    /// What a match of nothing but white space becomes.
    pub(crate) spaces: Spaces,
}

/// What a match of nothing but white space becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spaces {
    /// A piece, as matched.
    Keep,
    /// A piece without its last character, when text follows.
    LeaveLast,
    /// The same, except for a match that ends in a line break: another branch made it.
    LeaveLastOfBlanks,
}

/// The rule with this name.
pub(crate) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.names.contains(&name))
}

/// The names of all rules, for messages.
pub(crate) fn known_rules() -> String {
    let names: Vec<&str> = RULES.iter().flat_map(|rule| rule.names).copied().collect();
    names.join(", ")
}

/// A rule, ready to split.
#[derive(Debug)]
pub(crate) struct Splitter {
    passes: Vec<(Regex, Spaces)>,
}

impl Splitter {
    /// Compiles a rule's expressions.
    pub(crate) fn new(rule: &Rule) -> Result<Self, regex::Error> {
        let compile = |pass: &Pass| Ok((Regex::new(pass.pattern)?, pass.spaces));
        Ok(Self { passes: rule.passes.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// The words of a text, in order: together they are the text, and none is empty.
    pub(crate) fn split(&self, text: &str) -> Vec<Range<usize>> {
        let mut pieces = Vec::from([Range { start: 0, end: text.len() }]);
        for (regex, spaces) in &self.passes {
            let mut next = Vec::with_capacity(pieces.len());
            for piece in pieces {
                split_piece(regex, *spaces, &text[piece.clone()], piece.start, &mut next);
            }
            pieces = next;
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

/// Appends the matches in `piece` and the gaps between them; `base` is where the piece starts.
fn split_piece(
    regex: &Regex,
    spaces: Spaces,
    piece: &str,
    base: usize,
    out: &mut Vec<Range<usize>>,
) {
    let mut push = |range: Range<usize>| {
        if !range.is_empty() {
            out.push(base + range.start..base + range.end);
        }
    };
    let mut done = 0;
    while let Some(found) = regex.find_at(piece, done) {
        let end = match_end(spaces, piece, found.range());
        if end == done {
            break;
        }
        push(done..found.start());
        push(found.start()..end);
        done = end;
    }
    push(done..piece.len());
}

/// Where a match ends once the last of several spaces is left to the word behind them.
fn match_end(spaces: Spaces, piece: &str, found: Range<usize>) -> usize {
    let matched = &piece[found.clone()];
    let leaves = match spaces {
        Spaces::Keep => false,
        Spaces::LeaveLast => true,
        Spaces::LeaveLastOfBlanks => !matched.ends_with(['\r', '\n']),
    };
    let last = matched.chars().next_back();
    match last {
        Some(last) if leaves && found.end < piece.len() && last.len_utf8() < matched.len() => {
            let blank = last.is_whitespace() && matched.chars().all(char::is_whitespace);
            if blank { found.end - last.len_utf8() } else { found.end }
        }
        _ => found.end,
    }
}

#[cfg(test)]
#[path = "pretokenize/tests.rs"]
mod tests;
