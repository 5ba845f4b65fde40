//! A vocabulary with everything that its model's rules say: the tokenizer.

use std::sync::Arc;

use minfer_gguf::Metadata;

use crate::byte_pair::BytePair;
use crate::decoder::Decoder;
use crate::end::end_tokens;
use crate::error::{Error, Result};
use crate::pretokenize::{self, GEMMA_4, Rule};
use crate::sentence_piece::SentencePiece;
use crate::special::{Part, Special, SpecialTokens};
use crate::vocabulary::{Kind, Spelling, Vocabulary};

const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";

/// The values of `tokenizer.ggml.model` that are implemented, for messages.
const KNOWN_MODELS: &str = "gpt2, llama and gemma4";

/// What a caller may say against the file.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The word-splitting rule to use instead of `tokenizer.ggml.pre`; only byte-level
    /// vocabularies have one.
    pub pre: Option<String>,
}

/// Text to ids and back, by the vocabulary of one model file.
///
/// It is immutable and can be shared between threads.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Arc<Vocabulary>,
    special: SpecialTokens,
    model: Model,
    bos: Option<u32>,
    eos: Option<u32>,
    add_bos: bool,
    add_eos: bool,
    end: Vec<u32>,
}

#[derive(Debug)]
enum Model {
    BytePair(BytePair),
    SentencePiece { pieces: SentencePiece, space_prefix: bool },
}

/// What the kind of a vocabulary says where the file does not.
struct Defaults {
    rule: Option<&'static Rule>,
    spelling: Spelling,
    bos: Option<u32>,
    eos: Option<u32>,
    unknown: Option<u32>,
    add_bos: bool,
}

impl Tokenizer {
    /// Makes the tokenizer that `tokenizer.ggml.*` describes.
    ///
    /// # Errors
    /// A vocabulary kind or a word-splitting rule that is not implemented, and any part of the
    /// description that contradicts another: lengths, types, ids out of range.
    pub fn from_metadata(metadata: &Metadata, options: &Options) -> Result<Self> {
        let defaults = Defaults::of(metadata, options)?;
        let mut vocabulary = Vocabulary::read(metadata)?;
        let size = vocabulary.len();
        let given = |key: &'static str, default: Option<u32>| {
            let default = default.filter(|&id| (id as usize) < size);
            Ok::<_, Error>(token_id(metadata, key, size)?.or(default))
        };
        let bos = given("tokenizer.ggml.bos_token_id", defaults.bos)?;
        let eos = given("tokenizer.ggml.eos_token_id", defaults.eos)?;
        let default = defaults.unknown.filter(|&id| vocabulary.kind(id) == Some(Kind::Unknown));
        let unknown = given("tokenizer.ggml.unknown_token_id", default)?;
        let end = end_tokens(metadata, &mut vocabulary, eos)?;
        vocabulary.spell(defaults.spelling)?;
        let model = match defaults.rule {
            Some(rule) => {
                Model::BytePair(BytePair::new(metadata, &vocabulary, rule, defaults.spelling)?)
            }
            None => Model::SentencePiece {
                pieces: SentencePiece::new(metadata, &vocabulary, unknown)?,
                space_prefix: metadata.bool("tokenizer.ggml.add_space_prefix")?.unwrap_or(true),
            },
        };
        // Gemma 4 needs its begin token, and its first files say otherwise.
        let always = defaults.rule.is_some_and(|rule| std::ptr::eq(rule, &GEMMA_4));
        let add_bos = metadata.bool("tokenizer.ggml.add_bos_token")?.unwrap_or(defaults.add_bos);
        Ok(Self {
            special: SpecialTokens::new(&vocabulary)?,
            vocabulary: Arc::new(vocabulary),
            model,
            bos,
            eos,
            add_bos: add_bos || always,
            add_eos: metadata.bool("tokenizer.ggml.add_eos_token")?.unwrap_or(false),
            end,
        })
    }

    /// The ids of a text, with nothing added before or behind.
    ///
    /// # Errors
    /// The text has a byte that the vocabulary cannot write, or 4 GiB.
    pub fn encode(&self, text: &str, special: Special) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        self.encode_into(text, special, &mut ids)?;
        Ok(ids)
    }

    /// The ids of a prompt: those of the text, between the begin and end token where the model's
    /// rule wants them. A text that already starts with the begin token gets another.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode_prompt(&self, text: &str, special: Special) -> Result<Vec<u32>> {
        let mut ids: Vec<u32> = self.prompt_start().into_iter().collect();
        self.encode_into(text, special, &mut ids)?;
        ids.extend(self.eos.filter(|_| self.add_eos));
        Ok(ids)
    }

    fn encode_into(&self, text: &str, special: Special, ids: &mut Vec<u32>) -> Result<()> {
        let mut after_token = true;
        for part in self.special.parts(text, special) {
            match (part, &self.model) {
                (Part::Token(id), _) => ids.push(id),
                (Part::Text(text), Model::BytePair(model)) => {
                    model.encode(&self.vocabulary, text, ids)?;
                }
                (Part::Text(text), Model::SentencePiece { pieces, space_prefix }) => {
                    pieces.encode(&self.vocabulary, text, *space_prefix && after_token, ids)?;
                }
            }
            after_token = matches!(part, Part::Token(_));
        }
        Ok(())
    }

    /// The begin token, where the model's rule puts one before every prompt.
    pub fn prompt_start(&self) -> Option<u32> {
        self.bos.filter(|_| self.add_bos)
    }

    /// The text of ids; special tokens as they are written, or left out.
    ///
    /// The same as pushing every id into a [`Decoder`] and finishing it. Of a vocabulary that puts
    /// a space before a text, that space is part of what comes back.
    pub fn decode(&self, ids: &[u32], show_special: bool) -> String {
        let mut decoder = self.decoder(show_special);
        let mut text: String = ids.iter().map(|&id| decoder.push(id)).collect();
        text.push_str(&decoder.finish());
        text
    }

    /// A decoder at the start of a text.
    pub fn decoder(&self, show_special: bool) -> Decoder {
        Decoder::new(Arc::clone(&self.vocabulary), show_special)
    }

    /// Number of tokens: ids are below it.
    pub fn vocab_size(&self) -> usize {
        self.vocabulary.len()
    }

    /// The begin token.
    pub fn bos(&self) -> Option<u32> {
        self.bos
    }

    /// The end token that the file names; a generation also ends at any other of [`Self::eog`].
    pub fn eos(&self) -> Option<u32> {
        self.eos
    }

    /// The tokens that end a generation, in order of their ids.
    pub fn eog(&self) -> &[u32] {
        &self.end
    }

    /// Whether a generation ends at this token.
    pub fn is_eog(&self, id: u32) -> bool {
        self.end.binary_search(&id).is_ok()
    }

    /// What a token is for; `None` for an id that is not in the vocabulary.
    pub fn kind(&self, id: u32) -> Option<Kind> {
        self.vocabulary.kind(id)
    }

    /// Whether a token steers the model and is not text.
    pub fn is_control(&self, id: u32) -> bool {
        self.kind(id) == Some(Kind::Control)
    }

    /// The bytes that a token adds to a text; none for control, unknown and unused tokens.
    pub fn piece(&self, id: u32) -> Option<&[u8]> {
        let hidden = self.kind(id)?.is_special();
        if hidden { Some(&[]) } else { self.vocabulary.piece(id) }
    }

    /// A token's spelling in the file: of a special token its literal text.
    pub fn text(&self, id: u32) -> Option<&[u8]> {
        self.vocabulary.text(id)
    }

    /// The token with this spelling in the file.
    pub fn id(&self, text: &str) -> Option<u32> {
        self.vocabulary.id(text.as_bytes())
    }

    /// The literal texts of the control tokens.
    pub fn control_texts(&self) -> impl Iterator<Item = &str> {
        let control = self.vocabulary.ids().filter(|&id| self.is_control(id));
        control.filter_map(|id| str::from_utf8(self.vocabulary.text(id)?).ok())
    }

    /// Every token as (id, bytes, whether it is special), in order of ids: what a grammar masks.
    /// The bytes of a special token are its literal text.
    pub fn vocab_bytes(&self) -> impl ExactSizeIterator<Item = (u32, &[u8], bool)> {
        self.vocabulary.ids().map(|id| {
            let special =
                self.kind(id).is_none_or(|kind| kind.is_special() || kind == Kind::Unused);
            (id, self.vocabulary.piece(id).unwrap_or_default(), special)
        })
    }
}

impl Defaults {
    fn of(metadata: &Metadata, options: &Options) -> Result<Self> {
        match metadata.require_str(MODEL)? {
            "llama" => Ok(Self {
                rule: None,
                spelling: Spelling::Marked,
                bos: Some(1),
                eos: Some(2),
                unknown: Some(0),
                add_bos: true,
            }),
            "gpt2" => {
                let rule = rule(metadata, options)?;
                Ok(Self::byte_pair(rule, Spelling::Bytes))
            }
            "gemma4" => Ok(Self::byte_pair(&GEMMA_4, Spelling::Marked)),
            other => {
                Err(Error::UnknownModel { found: other.to_owned(), known: KNOWN_MODELS.to_owned() })
            }
        }
    }

    fn byte_pair(rule: &'static Rule, spelling: Spelling) -> Self {
        let add_bos = rule.add_bos;
        Self { rule: Some(rule), spelling, bos: None, eos: None, unknown: None, add_bos }
    }
}

/// The word-splitting rule that the caller or else the file names.
fn rule(metadata: &Metadata, options: &Options) -> Result<&'static Rule> {
    let name = match &options.pre {
        Some(name) => name.as_str(),
        None => metadata
            .str(PRE)?
            .ok_or_else(|| Error::MissingRule { known: pretokenize::known_rules() })?,
    };
    pretokenize::rule(name).ok_or_else(|| Error::UnknownRule {
        found: name.to_owned(),
        known: pretokenize::known_rules(),
    })
}

/// The token that `key` names, which must be in the vocabulary.
pub(crate) fn token_id(metadata: &Metadata, key: &'static str, size: usize) -> Result<Option<u32>> {
    match metadata.u32(key)? {
        Some(found) if found as usize >= size => Err(Error::TokenId { key, found, size }),
        id => Ok(id),
    }
}
