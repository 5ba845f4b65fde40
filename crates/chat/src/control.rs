//! The texts of a vocabulary's control tokens, and where they stand in a string.
//!
//! Two tries of bytes, one forward and one backward, so that any position is answered in steps
//! bounded by the longest text, whatever the number of texts.

use std::collections::HashMap;
use std::ops::Range;

/// The texts that the tokenizer turns into control tokens, ready for searching. Build it once for a
/// vocabulary; it is the whole of what [`crate::Rendered`] guards against, so it must be complete.
#[derive(Debug, Clone, Default)]
pub struct ControlTexts {
    texts: Vec<String>,
    forward: Trie,
    backward: Trie,
}

impl ControlTexts {
    /// Indexes `texts`; empty ones are ignored.
    pub fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> ControlTexts {
        let mut control = ControlTexts::default();
        for text in texts {
            let text = text.as_ref();
            if !text.is_empty() {
                control.forward.insert(text.bytes());
                control.backward.insert(text.bytes().rev());
                control.texts.push(text.to_owned());
            }
        }
        control
    }

    /// Whether there is nothing to guard against.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// For each position where control texts begin, the range of the longest.
    pub(crate) fn occurrences<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let bytes = text.as_bytes();
        (0..bytes.len()).filter_map(move |start| {
            let length = self.forward.walk(bytes[start..].iter().copied()).whole;
            (length > 0).then_some(start..start + length)
        })
    }

    /// The parts of `text` from which a control text could be made with other text before or after
    /// them: beginnings and endings of control texts, wherever they stand. Sorted and disjoint.
    pub(crate) fn fragments(&self, text: &str) -> Vec<Range<usize>> {
        let bytes = text.as_bytes();
        let mut found = Vec::new();
        for at in 0..bytes.len() {
            let ahead = self.forward.walk(bytes[at..].iter().copied()).part;
            if ahead > 0 {
                found.push(at..at + ahead);
            }
            let behind = self.backward.walk(bytes[..=at].iter().rev().copied()).part;
            if behind > 0 {
                found.push(at + 1 - behind..at + 1);
            }
        }
        let whole = found
            .into_iter()
            .map(|range| text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end));
        merge(whole.collect())
    }

    /// Whether `text` lies inside some control text.
    pub(crate) fn has_part(&self, text: &str) -> bool {
        self.texts.iter().any(|control| control.contains(text))
    }
}

/// Sorts ranges and joins those that touch.
pub(crate) fn merge(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[derive(Debug, Clone, Default)]
struct Trie {
    children: HashMap<(u32, u8), u32>,
    /// Whether a text ends at node `i + 1`; node 0 is the root.
    ends: Vec<bool>,
}

/// How far a walk along a trie came, in bytes.
struct Walk {
    /// Longest whole text.
    whole: usize,
    /// Longest beginning of a text.
    part: usize,
}

impl Trie {
    fn insert(&mut self, bytes: impl Iterator<Item = u8>) {
        let mut node = 0;
        for byte in bytes {
            let next = self.ends.len() as u32 + 1;
            node = *self.children.entry((node, byte)).or_insert(next);
            if node == next {
                self.ends.push(false);
            }
        }
        if let Some(end) = self.ends.get_mut((node as usize).wrapping_sub(1)) {
            *end = true;
        }
    }

    fn walk(&self, bytes: impl Iterator<Item = u8>) -> Walk {
        let mut walk = Walk { whole: 0, part: 0 };
        let mut node = 0;
        for byte in bytes {
            let Some(&next) = self.children.get(&(node, byte)) else { break };
            node = next;
            walk.part += 1;
            if self.ends.get(node as usize - 1) == Some(&true) {
                walk.whole = walk.part;
            }
        }
        walk
    }
}

#[cfg(test)]
mod tests;
