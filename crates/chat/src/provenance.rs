//! Which parts of a prompt are the user's, and the cut into pieces that follows from it.
//!
//! The prompt is rendered plainly, and once more with marks around the user's strings (`marked`).
//! If the second render without its marks equals the first, the marks say for every character whose
//! it is. A template may compare strings or cut them by position, which marks disturb; then a
//! second marking is tried, around those parts alone that could become part of a control token: its
//! beginnings and endings anywhere, and strings that could stand inside one. If that differs too,
//! the prompt is refused. (The second marking does not follow the template's own words, such as
//! `function`, nor the middle of a control text that the template cuts out of a longer string; a
//! token would need a template that puts the rest of it around them.)
//!
//! Only those characters of the user's that stand inside a control text are set apart. The rest
//! stays in one piece with the template's text, so that an ordinary prompt is one piece, tokenized
//! as ever.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use crate::control::{ControlTexts, merge};
use crate::marked::{Marks, Text};

/// A stretch of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether control texts in it are the template's, to be read as control tokens. Where it is
    /// false the piece is a user's text, to be tokenized as plain text.
    pub trusted: bool,
}

/// A prompt: its pieces, joined, are its text; neighbours differ in trust.
///
/// A tokenizer reads control tokens inside trusted pieces only, and should join the plain text
/// between control tokens across pieces before it splits it into tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// In order; none is empty.
    pub pieces: Vec<Piece>,
}

impl Rendered {
    /// The whole prompt.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Cuts `text`, whose characters in `user` are the user's.
    pub(crate) fn cut(text: &str, user: &[Range<usize>], control: &ControlTexts) -> Rendered {
        let mut apart = Vec::new();
        if !user.is_empty() {
            for token in control.occurrences(text) {
                let first = user.partition_point(|range| range.end <= token.start);
                for range in user.iter().skip(first).take_while(|range| range.start < token.end) {
                    apart.push(range.start.max(token.start)..range.end.min(token.end));
                }
            }
        }
        let mut rendered = Rendered::default();
        let mut at = 0;
        for range in merge(apart) {
            rendered.push(&text[at..range.start], true);
            rendered.push(&text[range.clone()], false);
            at = range.end;
        }
        rendered.push(&text[at..], true);
        rendered
    }

    fn push(&mut self, text: &str, trusted: bool) {
        if !text.is_empty() {
            self.pieces.push(Piece { text: text.to_owned(), trusted });
        }
    }
}

/// Roles that belong to the API and not to a user: templates build control tokens of them.
const ROLES: [&str; 9] = [
    "system",
    "developer",
    "user",
    "assistant",
    "model",
    "tool",
    "function",
    "ipython",
    "tool_response",
];

/// Whether a message's role is one that needs no mark.
pub(crate) fn is_known_role(role: &str) -> bool {
    ROLES.contains(&role)
}

/// How a user's strings are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marking {
    /// Not at all.
    Plain,
    /// Each string as a whole, but for harmless ones that the template may compare with.
    Whole,
    /// Beginnings and endings of control texts alone.
    Fragments,
}

/// Marks a request's strings, one way.
pub(crate) struct Marker<'a> {
    marking: Marking,
    pub(crate) marks: Marks,
    constants: &'a HashSet<String>,
    control: &'a ControlTexts,
    /// What has been found out about strings that the template knows.
    harmless: HashMap<String, bool>,
}

impl<'a> Marker<'a> {
    pub(crate) fn new(
        marking: Marking,
        marks: Marks,
        constants: &'a HashSet<String>,
        control: &'a ControlTexts,
    ) -> Marker<'a> {
        Marker { marking, marks, constants, control, harmless: HashMap::new() }
    }

    /// A user's string as the template sees it.
    pub(crate) fn value(&mut self, text: &str) -> String {
        match self.marking {
            Marking::Plain => text.to_owned(),
            Marking::Whole => {
                let bare = text.is_empty() || self.is_harmless(text);
                if bare { text.to_owned() } else { self.marks.around_all(text) }
            }
            Marking::Fragments if self.is_middle(text) => self.marks.around_all(text),
            Marking::Fragments => self.marks.around(text, &self.control.fragments(text)),
        }
    }

    /// A name of an object's field as the template sees it. Names that the template looks up stay
    /// as they are, unless a control text could begin or end in them.
    pub(crate) fn key(&mut self, text: &str) -> String {
        let known = self.constants.contains(text) && self.control.fragments(text).is_empty();
        if known { text.to_owned() } else { self.value(text) }
    }

    /// Whether `text` could stand inside a control text and the template does not know it.
    fn is_middle(&self, text: &str) -> bool {
        let middle = text.trim();
        !middle.is_empty() && !self.constants.contains(middle) && self.control.has_part(middle)
    }

    /// Whether the template knows `text` by itself and no control text could be made with it.
    fn is_harmless(&mut self, text: &str) -> bool {
        if !self.constants.contains(text) {
            return false;
        }
        if let Some(&known) = self.harmless.get(text) {
            return known;
        }
        let harmless = self.control.fragments(text).is_empty() && !self.control.has_part(text);
        self.harmless.insert(text.to_owned(), harmless);
        harmless
    }
}

/// Calls `visit` with every string of `value`, names of fields too; fails past `depth` levels.
pub(crate) fn visit_strings<'v>(
    value: &'v Value,
    depth: usize,
    visit: &mut impl FnMut(&'v str),
) -> bool {
    let Some(deeper) = depth.checked_sub(1) else { return false };
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => return items.iter().all(|v| visit_strings(v, deeper, visit)),
        Value::Object(fields) => {
            return fields.iter().all(|(key, v)| {
                visit(key);
                visit_strings(v, deeper, visit)
            });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    true
}

/// The user's ranges of the plain render, if the marked one tells them.
pub(crate) fn compare(plain: &str, marked: &str, marks: Marks) -> Option<Vec<Range<usize>>> {
    let text = Text::parse(marked, marks);
    (!text.torn && text.plain == plain).then_some(text.user)
}

#[cfg(test)]
mod tests;
