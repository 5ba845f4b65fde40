//! Byte-pair encoding: merges by rank inside each word, through the `tokenizers` crate.
//!
//! The text is split into words by the vocabulary's rule ([`crate::pretokenize`]), each word is
//! spelled in the vocabulary's alphabet, and the crate's BPE model merges it with a heap: n log n
//! in the length of the word. The crate's cache is off: it is per thread and outlives the model.
//!
//! Invariants:
//! - No text becomes a control or unknown token here: those are not in the model's vocabulary.
//! - Every byte of the text is in some token, or encoding fails: the model would drop a character
//!   that it does not know, so it is never given one.

use minfer_gguf::Metadata;
use tokenizers::Model as _;
use tokenizers::models::bpe::{BPE, Merges, Vocab};

use crate::alphabet;
use crate::error::{Error, Result};
use crate::pretokenize::{Rule, Splitter};
use crate::vocabulary::{Kind, SPACE_MARK, Spelling, Vocabulary};

/// The most merges that are accepted; the largest real vocabularies have about 515,000.
pub const MERGES_MAX: usize = 4 << 20;

const MERGES: &str = "tokenizer.ggml.merges";

/// A BPE model and the rule that cuts words for it.
#[derive(Debug)]
pub(crate) struct BytePair {
    splitter: Splitter,
    spelling: Spelling,
    model: BPE,
    /// In the byte-level alphabet: which bytes have a token.
    known: [bool; 256],
}

impl BytePair {
    /// Makes the model of `vocabulary` from the file's merges.
    ///
    /// A merge of texts that are not tokens, or into one that is not, can never apply and is
    /// left out; of two merges of one pair the first counts.
    pub(crate) fn new(
        metadata: &Metadata,
        vocabulary: &Vocabulary,
        rule: &Rule,
        spelling: Spelling,
    ) -> Result<Self> {
        let merges = merges(metadata, vocabulary)?;
        let usable = |id: &u32| vocabulary.kind(*id).is_some_and(|kind| !kind.is_special());
        let token = |id: u32| {
            let text = std::str::from_utf8(vocabulary.text(id)?).ok()?;
            (vocabulary.id(text.as_bytes()) == Some(id)).then(|| (text.to_owned(), id))
        };
        let tokens: Vocab = vocabulary.ids().filter(usable).filter_map(token).collect();
        let known = std::array::from_fn(|byte| {
            let mut buffer = [0; 4];
            let text: &str = alphabet::char_of(byte as u8).encode_utf8(&mut buffer);
            tokens.contains_key(text)
        });
        let refused = |reason: String| Error::Model { reason };
        let model = BPE::builder()
            .vocab_and_merges(tokens, merges)
            .ignore_merges(rule.whole_words)
            .byte_fallback(spelling == Spelling::Marked)
            .cache_capacity(0)
            .build()
            .map_err(|error| refused(error.to_string()))?;
        let splitter = Splitter::new(rule).map_err(|error| refused(error.to_string()))?;
        Ok(Self { splitter, spelling, model, known })
    }

    /// Appends the ids of `text`, which holds no special token.
    pub(crate) fn encode(&self, text: &str, ids: &mut Vec<u32>) -> Result<()> {
        let mut spelled = String::new();
        match self.spelling {
            Spelling::Bytes => {
                if let Some(byte) = text.bytes().find(|&byte| !self.known[usize::from(byte)]) {
                    return Err(Error::NoToken { byte });
                }
                for word in self.splitter.split(text) {
                    spelled.clear();
                    spelled.extend(text[word].bytes().map(alphabet::char_of));
                    self.encode_word(&spelled, ids)?;
                }
            }
            Spelling::Marked => {
                let marked = text.replace(' ', SPACE_MARK);
                for word in self.splitter.split(&marked) {
                    self.encode_word(&marked[word], ids)?;
                }
            }
        }
        Ok(())
    }

    fn encode_word(&self, word: &str, ids: &mut Vec<u32>) -> Result<()> {
        let tokens = self
            .model
            .tokenize(word)
            .map_err(|error| Error::Model { reason: error.to_string() })?;
        ids.extend(tokens.iter().map(|token| token.id));
        Ok(())
    }
}

/// The merges of the file, in order, that tokens of the vocabulary can make.
fn merges(metadata: &Metadata, vocabulary: &Vocabulary) -> Result<Merges> {
    let lines = metadata.require_strings(MERGES)?;
    if lines.len() > MERGES_MAX {
        return Err(Error::Merges { found: lines.len(), limit: MERGES_MAX });
    }
    let usable = |text: &[u8]| {
        let id = vocabulary.id(text)?;
        let kind = vocabulary.kind(id)?;
        (!matches!(kind, Kind::Control | Kind::Unknown)).then_some(id)
    };
    let mut merges = Vec::with_capacity(lines.len());
    let mut joined = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (index, line) in lines.iter().enumerate() {
        let Some((left, right)) = halves(line) else {
            return Err(Error::Merge { index, found: String::from_utf8_lossy(line).into_owned() });
        };
        joined.clear();
        joined.extend_from_slice(left);
        joined.extend_from_slice(right);
        let (Some(left_id), Some(right_id), Some(_)) =
            (usable(left), usable(right), usable(&joined))
        else {
            continue;
        };
        let (Ok(left), Ok(right)) = (str::from_utf8(left), str::from_utf8(right)) else {
            continue;
        };
        if seen.insert((left_id, right_id)) {
            merges.push((left.to_owned(), right.to_owned()));
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
