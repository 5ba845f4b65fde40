//! SentencePiece vocabularies: merges by the score of the token that they make.
//!
//! Two neighbours merge when their texts together are a token; of all such pairs the one whose
//! token has the highest score goes first, and of equals the leftmost. What no token can write is
//! written byte by byte.
//!
//! Invariant: no text becomes a control or unknown token here, except the unknown token for what
//! has neither a token nor byte tokens.

use minfer_gguf::Metadata;

use crate::error::{Error, Result};
use crate::merge::{Merge, Symbols, TEXT_BYTES_MAX};
use crate::vocabulary::{SPACE_MARK, Vocabulary, check_length};

const SCORES: &str = "tokenizer.ggml.scores";

/// Scores of the tokens, as integers of the same order, and the tokens of single bytes.
#[derive(Debug)]
pub(crate) struct SentencePiece {
    priorities: Vec<u32>,
    bytes: [Option<u32>; 256],
    unknown: Option<u32>,
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
        Ok(Self {
            priorities: scores.iter().map(|&score| ordered(score)).collect(),
            bytes: std::array::from_fn(|byte| vocabulary.byte_id(byte as u8)),
            unknown,
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
        let mut marked = text.replace(' ', SPACE_MARK);
        if prefixed {
            marked.insert_str(0, SPACE_MARK);
        }
        let (found, limit) = (marked.len(), TEXT_BYTES_MAX);
        if found > limit {
            return Err(Error::TextLength { found, limit });
        }
        let bytes = marked.as_bytes();
        let mut symbols = Symbols::default();
        for (start, character) in marked.char_indices() {
            let len = character.len_utf8();
            symbols.push(start, len, vocabulary.writable_id(&bytes[start..start + len]));
        }
        symbols.merge(|left, right| {
            let start = left.start as usize;
            let len = left.len as usize + right.len as usize;
            let id = vocabulary.writable_id(bytes.get(start..start + len)?)?;
            Some(Merge { priority: *self.priorities.get(id as usize)?, id })
        });
        for symbol in symbols.iter() {
            match symbol.id {
                Some(id) => ids.push(id),
                None => self.fall_back(symbol.bytes(bytes), ids)?,
            }
        }
        Ok(())
    }

    /// Writes one character that is no token: as bytes, else as the unknown token.
    fn fall_back(&self, text: &[u8], ids: &mut Vec<u32>) -> Result<()> {
        let token = |&byte: &u8| self.bytes[usize::from(byte)];
        match (text.iter().find(|byte| token(byte).is_none()), self.unknown) {
            (None, _) => ids.extend(text.iter().filter_map(token)),
            (Some(_), Some(unknown)) => ids.push(unknown),
            (Some(&byte), None) => return Err(Error::NoToken { byte }),
        }
        Ok(())
    }
}

/// An integer that orders as the float does: the sign bit flipped, or all bits of a negative.
fn ordered(score: f32) -> u32 {
    let bits = (score + 0.0).to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}
