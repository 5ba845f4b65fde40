//! SentencePiece vocabularies: merges by the score of the token that they make.
//!
//! Two neighbours merge when their texts together are a token; of all such pairs the one whose
//! token has the highest score goes first, and of equals the leftmost. What no token can write is
//! written byte by byte.
//!
//! This is not expressed in the `tokenizers` crate. Its BPE ranks pairs, so that two ways to make
//! one token would have an order which scores do not have, and needs every pair of every token as
//! two strings: more than half a million for Gemma, which alone takes longer than a load may. Its
//! Unigram maximizes the sum of scores, which is another algorithm. Here a pair is looked up by
//! its text, a heap orders the candidates, and a text of n bytes takes n log n.
//!
//! Invariant: no text becomes a control or unknown token here, except the unknown token for what
//! has neither a token nor byte tokens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use minfer_gguf::Metadata;

use crate::error::{Error, Result};
use crate::vocabulary::{SPACE_MARK, Vocabulary, check_length};

const SCORES: &str = "tokenizer.ggml.scores";

/// Scores of the tokens, as integers of the same order, and the tokens of single bytes.
#[derive(Debug)]
pub(crate) struct SentencePiece {
    priorities: Vec<u32>,
    bytes: [Option<u32>; 256],
    unknown: Option<u32>,
    longest: usize,
}

/// A run of the text that is, or could become, one token.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    start: u32,
    /// Length in bytes; 0 once the symbol was merged into the one before.
    len: u32,
    previous: u32,
    next: u32,
    id: Option<u32>,
}

/// No symbol: the text ends here.
const NONE: u32 = u32::MAX;

/// A candidate merge; the greatest goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    priority: u32,
    left: Reverse<u32>,
    right: u32,
    len: u32,
    id: u32,
}

impl SentencePiece {
    /// Reads the scores of `vocabulary`.
    pub(crate) fn new(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        unknown: Option<u32>,
    ) -> Result<Self> {
        let scores = metadata.require_f32s(SCORES)?;
        check_length(SCORES, vocabulary.len(), scores.len())?;
        if let Some(id) = scores.iter().position(|score| score.is_nan()) {
            return Err(Error::Score { id });
        }
        let lengths = vocabulary.ids().filter_map(|id| vocabulary.text(id)).map(<[u8]>::len);
        Ok(Self {
            priorities: scores.iter().map(|&score| ordered(score)).collect(),
            bytes: std::array::from_fn(|byte| vocabulary.byte_id(byte as u8)),
            unknown,
            longest: lengths.max().unwrap_or(0),
        })
    }

    /// Appends the ids of `text`, which holds no special token; `prefixed` puts a space before it.
    pub(crate) fn encode(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        prefixed: bool,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let mut marked = String::with_capacity(text.len() + SPACE_MARK.len());
        if prefixed {
            marked.push_str(SPACE_MARK);
        }
        for (place, part) in text.split(' ').enumerate() {
            if place > 0 {
                marked.push_str(SPACE_MARK);
            }
            marked.push_str(part);
        }
        let (found, limit) = (marked.len(), NONE as usize - 1);
        if found > limit {
            return Err(Error::TextLength { found, limit });
        }
        let mut symbols = characters(vocabulary, &marked);
        self.merge(vocabulary, marked.as_bytes(), &mut symbols);
        for symbol in symbols.iter().filter(|symbol| symbol.len > 0) {
            match symbol.id {
                Some(id) => ids.push(id),
                None => self.fall_back(symbol.text(marked.as_bytes()), ids)?,
            }
        }
        Ok(())
    }

    fn merge(&self, vocabulary: &Vocabulary, text: &[u8], symbols: &mut [Symbol]) {
        let mut candidates = BinaryHeap::new();
        let ends = symbols.len().saturating_sub(1);
        for left in 0..u32::try_from(ends).unwrap_or(NONE) {
            candidates.extend(self.candidate(vocabulary, text, symbols, left, left + 1));
        }
        while let Some(candidate) = candidates.pop() {
            let (left, right) = (candidate.left.0, candidate.right);
            let (left_symbol, right_symbol) = (symbols[left as usize], symbols[right as usize]);
            let whole = left_symbol.len > 0 && right_symbol.len > 0;
            if !whole || left_symbol.len + right_symbol.len != candidate.len {
                continue;
            }
            symbols[left as usize].len = candidate.len;
            symbols[left as usize].id = Some(candidate.id);
            symbols[left as usize].next = right_symbol.next;
            symbols[right as usize].len = 0;
            if right_symbol.next != NONE {
                symbols[right_symbol.next as usize].previous = left;
                candidates.extend(self.candidate(
                    vocabulary,
                    text,
                    symbols,
                    left,
                    right_symbol.next,
                ));
            }
            if left_symbol.previous != NONE {
                candidates.extend(self.candidate(
                    vocabulary,
                    text,
                    symbols,
                    left_symbol.previous,
                    left,
                ));
            }
        }
    }

    /// The merge of two neighbours, if their texts together are a token.
    fn candidate(
        &self,
        vocabulary: &Vocabulary,
        text: &[u8],
        symbols: &[Symbol],
        left: u32,
        right: u32,
    ) -> Option<Candidate> {
        let (left_symbol, right_symbol) = (symbols[left as usize], symbols[right as usize]);
        let len = left_symbol.len + right_symbol.len;
        if len as usize > self.longest {
            return None;
        }
        let start = left_symbol.start as usize;
        let id = writable(vocabulary, text.get(start..start + len as usize)?)?;
        let priority = *self.priorities.get(id as usize)?;
        Some(Candidate { priority, left: Reverse(left), right, len, id })
    }

    /// Writes one character that is no token: as bytes, else as the unknown token.
    fn fall_back(&self, text: &[u8], ids: &mut Vec<u32>) -> Result<()> {
        let bytes: Option<Vec<u32>> =
            text.iter().map(|&byte| self.bytes[usize::from(byte)]).collect();
        match (bytes, self.unknown) {
            (Some(bytes), _) => ids.extend(bytes),
            (None, Some(unknown)) => ids.push(unknown),
            (None, None) => {
                let lacks = |byte: &&u8| self.bytes[usize::from(**byte)].is_none();
                let byte = text.iter().find(lacks).copied().unwrap_or_default();
                return Err(Error::NoToken { byte });
            }
        }
        Ok(())
    }
}

impl Symbol {
    fn text(self, text: &[u8]) -> &[u8] {
        let start = self.start as usize;
        text.get(start..start + self.len as usize).unwrap_or_default()
    }
}

/// One symbol for each character of the text.
fn characters(vocabulary: &Vocabulary, text: &str) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = Vec::with_capacity(text.len());
    for (start, character) in text.char_indices() {
        let len = character.len_utf8();
        let id = writable(vocabulary, &text.as_bytes()[start..start + len]);
        let place = symbols.len() as u32;
        let previous = place.checked_sub(1).unwrap_or(NONE);
        symbols.push(Symbol {
            start: start as u32,
            len: len as u32,
            previous,
            next: place + 1,
            id,
        });
    }
    if let Some(last) = symbols.last_mut() {
        last.next = NONE;
    }
    symbols
}

/// The token with this text, unless a text must not become it.
fn writable(vocabulary: &Vocabulary, text: &[u8]) -> Option<u32> {
    let id = vocabulary.id(text)?;
    vocabulary.kind(id).is_some_and(|kind| !kind.is_special()).then_some(id)
}

/// An integer that orders as the float does: the sign bit flipped, or all bits of a negative.
fn ordered(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}
