//! The tokens of a file: their texts, kinds and bytes, and the way from a text to an id.
//!
//! A token has a *text*, its spelling in the file, and a *piece*, the bytes that it adds to a
//! decoded text. Both are stored as one run of bytes each, so that a vocabulary of 262k tokens is
//! a handful of allocations. Not here: how a text is cut into tokens.
//!
//! Invariants:
//! - Every id below [`Vocabulary::len`] has a kind, a text and a piece; no other id has any.
//! - Of several tokens with one text, the first is the one that the text leads to.
//! - A token of the kind *byte* spells one, and its piece is that byte.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use minfer_gguf::{Metadata, StringArray};

use crate::alphabet;
use crate::error::{Error, Result};

/// The most tokens a vocabulary may have; the largest real ones have 262,144.
pub const TOKENS_MAX: usize = 2 << 20;

/// The most bytes a token's text may have.
pub const TOKEN_TEXT_BYTES_MAX: usize = 64 << 10;

/// U+2581, which stands for a space in SentencePiece vocabularies.
pub(crate) const SPACE_MARK: &str = "▁";

const TOKENS: &str = "tokenizer.ggml.tokens";
const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";

/// What a token is for: `tokenizer.ggml.token_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Ordinary text.
    Normal,
    /// Stands for what the vocabulary cannot write.
    Unknown,
    /// Steers the model (begin, end, role…) and is not part of a text.
    Control,
    /// Text that is always one token.
    UserDefined,
    /// Never used.
    Unused,
    /// One byte, for text that no other token can write.
    Byte,
}

impl Kind {
    fn from_file(id: usize, found: i32) -> Result<Self> {
        match found {
            1 => Ok(Self::Normal),
            2 => Ok(Self::Unknown),
            3 => Ok(Self::Control),
            4 => Ok(Self::UserDefined),
            0 | 5 => Ok(Self::Unused),
            6 => Ok(Self::Byte),
            _ => Err(Error::TokenType { id, found }),
        }
    }

    /// Whether a token of this kind is hidden when text is decoded for a reader.
    pub(crate) fn is_special(self) -> bool {
        matches!(self, Self::Control | Self::Unknown)
    }
}

/// How a token's text spells its piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Every character stands for a byte: see [`alphabet`].
    Bytes,
    /// The text itself, with [`SPACE_MARK`] for a space.
    Marked,
}

/// The tokens of a file.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    kinds: Vec<Kind>,
    texts: Runs,
    pieces: Runs,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Bytes of the longest text.
    longest: usize,
}

impl Vocabulary {
    /// Reads texts and kinds; pieces are made by [`Vocabulary::spell`], once kinds are settled.
    pub(crate) fn read(metadata: &Metadata) -> Result<Self> {
        let strings = metadata.require_strings(TOKENS)?;
        let size = strings.len();
        if size == 0 || size > TOKENS_MAX {
            return Err(Error::VocabularySize { found: size, limit: TOKENS_MAX });
        }
        let kinds = match metadata.i32s(TOKEN_TYPES)? {
            None => vec![Kind::Normal; size],
            Some(types) => {
                check_length(TOKEN_TYPES, size, types.len())?;
                let kinds = types.iter().enumerate().map(|(id, &kind)| Kind::from_file(id, kind));
                kinds.collect::<Result<_>>()?
            }
        };
        let texts = Runs::copy_of(strings)?;
        let hasher = DefaultHashBuilder::default();
        let index = index_of(&texts, &hasher);
        let longest = strings.iter().map(<[u8]>::len).max().unwrap_or(0);
        Ok(Self { kinds, texts, pieces: Runs::default(), index, hasher, longest })
    }

    /// Makes the piece of every token.
    pub(crate) fn spell(&mut self, spelling: Spelling) -> Result<()> {
        let mut pieces = Runs::with_capacity(self.len(), self.texts.bytes.len());
        for id in 0..self.len() {
            let text = self.texts.get(id).unwrap_or_default();
            match self.kinds[id] {
                Kind::Normal => spell_normal(text, spelling, &mut pieces.bytes),
                Kind::Byte => pieces.bytes.push(byte_spelled(text).ok_or_else(|| {
                    Error::ByteToken { id, found: String::from_utf8_lossy(text).into_owned() }
                })?),
                Kind::Control | Kind::Unknown | Kind::UserDefined => {
                    pieces.bytes.extend_from_slice(text);
                }
                Kind::Unused => {}
            }
            pieces.close()?;
        }
        self.pieces = pieces;
        Ok(())
    }

    /// Number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// All ids, in order.
    pub(crate) fn ids(&self) -> impl ExactSizeIterator<Item = u32> + use<> {
        0..u32::try_from(self.kinds.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn kind(&self, id: u32) -> Option<Kind> {
        self.kinds.get(id as usize).copied()
    }

    /// Overrides the kind that the file gives a token; ids that are not there are left alone.
    pub(crate) fn set_kind(&mut self, id: u32, kind: Kind) {
        if let Some(place) = self.kinds.get_mut(id as usize) {
            *place = kind;
        }
    }

    /// The spelling of a token in the file.
    pub(crate) fn text(&self, id: u32) -> Option<&[u8]> {
        self.texts.get(id as usize)
    }

    /// The bytes that a token adds to a text; of a special token its literal text.
    pub(crate) fn piece(&self, id: u32) -> Option<&[u8]> {
        self.pieces.get(id as usize)
    }

    /// The token with this spelling.
    pub(crate) fn id(&self, text: &[u8]) -> Option<u32> {
        let found = self
            .index
            .find(self.hasher.hash_one(text), |&id| self.texts.get(id as usize) == Some(text));
        found.copied()
    }

    /// The token with this spelling, unless ordinary text must not become it.
    pub(crate) fn writable_id(&self, text: &[u8]) -> Option<u32> {
        if text.len() > self.longest {
            return None;
        }
        self.id(text).filter(|&id| self.kind(id).is_some_and(|kind| !kind.is_special()))
    }

    /// The token for a byte, by spelling: `<0x00>` to `<0xFF>`.
    pub(crate) fn byte_id(&self, byte: u8) -> Option<u32> {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        let digit = |nibble: u8| DIGITS[usize::from(nibble & 15)];
        self.id(&[b'<', b'0', b'x', digit(byte >> 4), digit(byte), b'>'])
    }
}

/// Refuses an array that does not have one entry for each token.
pub(crate) fn check_length(key: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::ArrayLength { key, expected, found }) }
}

fn index_of(texts: &Runs, hasher: &DefaultHashBuilder) -> HashTable<u32> {
    let size = texts.ends.len();
    let text = |id: u32| texts.get(id as usize).unwrap_or_default();
    let hash = |id: u32| hasher.hash_one(text(id));
    let mut index = HashTable::with_capacity(size);
    for id in 0..u32::try_from(size).unwrap_or(u32::MAX) {
        let entry = index.entry(hash(id), |&other| text(other) == text(id), |&other| hash(other));
        entry.or_insert(id);
    }
    index
}

fn spell_normal(text: &[u8], spelling: Spelling, out: &mut Vec<u8>) {
    let Ok(text) = std::str::from_utf8(text) else {
        out.extend_from_slice(text);
        return;
    };
    match spelling {
        Spelling::Marked => {
            for (place, part) in text.split(SPACE_MARK).enumerate() {
                if place > 0 {
                    out.push(b' ');
                }
                out.extend_from_slice(part.as_bytes());
            }
        }
        Spelling::Bytes => {
            for character in text.chars() {
                match alphabet::byte_of(character) {
                    Some(byte) => out.push(byte),
                    None => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
        }
    }
}

/// The byte that a text like `<0x0A>` spells: two hexadecimal digits exactly.
fn byte_spelled(text: &[u8]) -> Option<u8> {
    let &[b'<', b'0', b'x', high, low, b'>'] = text else { return None };
    let digit = |character: u8| char::from(character).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Strings of bytes in one run.
#[derive(Debug, Default)]
struct Runs {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Runs {
    fn with_capacity(strings: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(strings) }
    }

    fn copy_of(strings: &StringArray) -> Result<Self> {
        let total = strings.iter().map(<[u8]>::len).fold(0usize, usize::saturating_add);
        let mut runs = Self::with_capacity(strings.len(), total);
        for (id, text) in strings.iter().enumerate() {
            if text.len() > TOKEN_TEXT_BYTES_MAX {
                let limit = TOKEN_TEXT_BYTES_MAX;
                return Err(Error::TokenText { id, found: text.len(), limit });
            }
            runs.bytes.extend_from_slice(text);
            runs.close()?;
        }
        Ok(runs)
    }

    /// Ends the string that was appended to `bytes`.
    fn close(&mut self) -> Result<()> {
        let found = self.bytes.len();
        let limit = u32::MAX as usize;
        self.ends.push(u32::try_from(found).map_err(|_| Error::TextLength { found, limit })?);
        Ok(())
    }

    fn get(&self, place: usize) -> Option<&[u8]> {
        let end = *self.ends.get(place)?;
        let start = match place.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start as usize..end as usize)
    }
}
