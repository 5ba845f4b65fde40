//! Ids to text, one at a time, without ever giving out half a character.

use std::sync::Arc;

use crate::vocabulary::{Kind, Vocabulary};

/// The text of a sequence of ids, as it grows.
///
/// What the pushes and the finish give, put together, is the decoded whole, however the ids are
/// cut. Bytes that are not UTF-8 become U+FFFD, one for each longest prefix of a character, as in
/// [`String::from_utf8_lossy`]; the start of a character, three bytes at most, is held back until
/// the rest comes.
#[derive(Debug, Clone)]
pub struct Decoder {
    vocabulary: Arc<Vocabulary>,
    show_special: bool,
    held: Vec<u8>,
}

impl Decoder {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, show_special: bool) -> Self {
        Self { vocabulary, show_special, held: Vec::new() }
    }

    /// The text that this id completes. Ids that are not in the vocabulary add nothing.
    pub fn push(&mut self, id: u32) -> String {
        let hidden = !self.show_special && self.vocabulary.kind(id).is_none_or(Kind::is_special);
        if !hidden {
            self.held.extend_from_slice(self.vocabulary.piece(id).unwrap_or_default());
        }
        let mut text = String::new();
        let mut keep = self.held.len();
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            keep -= chunk.valid().len();
            let invalid = chunk.invalid();
            if keep == invalid.len() && is_start(invalid) {
                break;
            }
            if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            keep -= invalid.len();
        }
        let given = self.held.len() - keep;
        self.held.drain(..given);
        text
    }

    /// Ends the text: U+FFFD if the start of a character was held back.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.held).into_owned()
    }

    /// How many bytes are held back: 0 to 3.
    pub fn held_bytes(&self) -> usize {
        self.held.len()
    }
}

/// Whether more bytes could make this invalid sequence a character.
fn is_start(invalid: &[u8]) -> bool {
    match str::from_utf8(invalid) {
        Ok(_) => false,
        Err(error) => error.error_len().is_none(),
    }
}
