//! Byte-pair encoding: merges by rank inside each word.
//!
//! The text is split into words by the vocabulary's rule ([`crate::pretokenize`]), each word
//! starts as the tokens of its bytes (of its characters, in a vocabulary that spells them out),
//! and the pair of neighbours that stands first in the file's list merges first, of equals the
//! leftmost.
//!
//! The BPE model of the `tokenizers` crate is the oracle of the tests and not used here: it takes
//! every token and both halves of every merge as strings of their own. Gemma 4's 262,144 tokens so
//! take 0.69 s and 144 MB to load, past what a load may take, and pairs of ids 0.29 s and 42 MB.
//!
//! Invariants:
//! - No text becomes a control or unknown token here.
//! - Bytes that have no token, such as that of a private plane which no training text held, are
//!   left out, as the models' own programs do. Every other byte is in some token.

use hashbrown::HashMap;
use minfer_gguf::Metadata;

use crate::alphabet;
use crate::error::{Error, Result};
use crate::merge::{Merge, Symbols, TEXT_BYTES_MAX};
use crate::pretokenize::{Rule, Splitter};
use crate::vocabulary::{SPACE_MARK, Spelling, Vocabulary};

/// The most merges that are accepted; the largest real vocabularies have about 515,000.
pub const MERGES_MAX: usize = 4 << 20;

const MERGES: &str = "tokenizer.ggml.merges";

/// The merges of a vocabulary and the rule that cuts words for it.
#[derive(Debug)]
pub(crate) struct BytePair {
    splitter: Splitter,
    spelling: Spelling,
    whole_words: bool,
    merges: HashMap<(u32, u32), Merge>,
    bytes: [Option<u32>; 256],
}

impl BytePair {
    /// Reads the merges of `vocabulary`.
    pub(crate) fn new(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        rule: &Rule,
        spelling: Spelling,
    ) -> Result<Self> {
        let byte_id = |byte| match spelling {
            Spelling::Marked => vocabulary.byte_id(byte),
            Spelling::Bytes => {
                let mut buffer = [0; 4];
                let character = alphabet::char_of(byte).encode_utf8(&mut buffer);
                vocabulary.writable_id(character.as_bytes())
            }
        };
        let splitter =
            Splitter::new(rule).map_err(|error| Error::Splitter { reason: error.to_string() })?;
        Ok(Self {
            splitter,
            spelling,
            whole_words: rule.whole_words,
            merges: merges(metadata, vocabulary)?,
            bytes: std::array::from_fn(|byte| byte_id(byte as u8)),
        })
    }

    /// Appends the ids of `text`, which holds no special token.
    pub(crate) fn encode(
        &self,
        vocabulary: &Vocabulary,
        text: &str,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        let marked;
        let text = match self.spelling {
            Spelling::Bytes => text,
            Spelling::Marked => {
                marked = text.replace(' ', SPACE_MARK);
                &marked
            }
        };
        let (found, limit) = (text.len(), TEXT_BYTES_MAX);
        if found > limit {
            return Err(Error::TextLength { found, limit });
        }
        let mut symbols = Symbols::default();
        let mut spelled = String::new();
        for word in self.splitter.split(text) {
            let word = &text[word];
            if self.whole_words {
                spelled.clear();
                spelled.extend(word.bytes().map(alphabet::char_of));
                if let Some(id) = vocabulary.writable_id(spelled.as_bytes()) {
                    ids.push(id);
                    continue;
                }
            }
            self.encode_word(vocabulary, word, &mut symbols, ids);
        }
        Ok(())
    }

    fn encode_word(
        &self,
        vocabulary: &Vocabulary,
        word: &str,
        symbols: &mut Symbols,
        ids: &mut Vec<u32>,
    ) {
        symbols.clear();
        let bytes = word.as_bytes();
        let byte_id = |&byte: &u8| self.bytes[usize::from(byte)];
        match self.spelling {
            Spelling::Bytes => {
                for (start, byte) in bytes.iter().enumerate() {
                    if let Some(id) = byte_id(byte) {
                        symbols.push(start, 1, Some(id));
                    }
                }
            }
            Spelling::Marked => {
                for (start, character) in word.char_indices() {
                    let len = character.len_utf8();
                    let id = vocabulary.writable_id(&bytes[start..start + len]);
                    symbols.push(start, len, id);
                }
            }
        }
        symbols.merge(|left, right| self.merges.get(&(left.id?, right.id?)).copied());
        for symbol in symbols.iter() {
            match symbol.id {
                Some(id) => ids.push(id),
                None => ids.extend(symbol.bytes(bytes).iter().filter_map(byte_id)),
            }
        }
    }
}

/// The merges of the file by the tokens that they join.
///
/// A merge of texts that are not tokens, or into one that is not, can never apply and is left
/// out; of two merges of one pair the first counts.
fn merges(metadata: &Metadata, vocabulary: &Vocabulary) -> Result<HashMap<(u32, u32), Merge>> {
    let lines = metadata.require_strings(MERGES)?;
    if lines.len() > MERGES_MAX {
        return Err(Error::Merges { found: lines.len(), limit: MERGES_MAX });
    }
    let mut merges = HashMap::with_capacity(lines.len());
    let mut joined = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((left, right)) = halves(line) else {
            return Err(Error::Merge { index, found: String::from_utf8_lossy(line).into_owned() });
        };
        joined.clear();
        joined.extend_from_slice(left);
        joined.extend_from_slice(right);
        let ids = [left, right, &joined].map(|text| vocabulary.writable_id(text));
        if let [Some(left), Some(right), Some(id)] = ids {
            let priority = u32::MAX - index as u32;
            merges.entry((left, right)).or_insert(Merge { priority, id });
        }
    }
    Ok(merges)
}

/// The two texts of a merge; the first is not empty, and may itself be a space.
fn halves(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let space = 1 + line.get(1..)?.iter().position(|&byte| byte == b' ')?;
    let (left, right) = (&line[..space], &line[space + 1..]);
    (!right.is_empty()).then_some((left, right))
}
