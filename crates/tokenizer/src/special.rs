//! Finding the tokens that are written in a text as themselves.
//!
//! User-defined tokens are found in every text; control and unknown tokens only where the caller
//! trusts the text to hold them. Of tokens that start at one place the longest is taken. One
//! automaton for each of the two ways is built at load, in time linear in the texts.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, Result};
use crate::vocabulary::{Kind, Vocabulary};

/// The most bytes that the texts of all such tokens may have; the largest real vocabularies have
/// about 100,000.
pub const SPECIAL_TEXT_BYTES_MAX: usize = 512 << 10;

/// Whether control tokens that are written in a text become their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Special {
    /// They do: for templates and other text that the program trusts.
    Parse,
    /// They are text like any other: for what users and documents say.
    Plain,
}

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'t> {
    /// To be tokenized; never empty.
    Text(&'t str),
    /// A token that is written out.
    Token(u32),
}

/// The tokens to find, both ways.
#[derive(Debug)]
pub(crate) struct SpecialTokens {
    parse: Finder,
    plain: Finder,
}

#[derive(Debug)]
struct Finder {
    automaton: AhoCorasick,
    ids: Vec<u32>,
}

impl SpecialTokens {
    pub(crate) fn new(vocabulary: &Vocabulary) -> Result<Self> {
        Ok(Self {
            parse: Finder::new(vocabulary, |kind| kind.is_special() || kind == Kind::UserDefined)?,
            plain: Finder::new(vocabulary, |kind| kind == Kind::UserDefined)?,
        })
    }

    /// The parts of a text, in order.
    pub(crate) fn parts<'t>(&self, text: &'t str, special: Special) -> Vec<Part<'t>> {
        let finder = match special {
            Special::Parse => &self.parse,
            Special::Plain => &self.plain,
        };
        let mut parts = Vec::new();
        let mut done = 0;
        for found in finder.automaton.find_iter(text) {
            if found.start() > done {
                parts.push(Part::Text(&text[done..found.start()]));
            }
            parts.push(Part::Token(finder.ids[found.pattern().as_usize()]));
            done = found.end();
        }
        if done < text.len() {
            parts.push(Part::Text(&text[done..]));
        }
        parts
    }
}

impl Finder {
    /// Tokens whose text is empty or not UTF-8 cannot be written in a text and are left out.
    fn new(vocabulary: &Vocabulary, wanted: impl Fn(Kind) -> bool) -> Result<Self> {
        let mut ids = Vec::new();
        let mut texts = Vec::new();
        let (mut found, limit) = (0, SPECIAL_TEXT_BYTES_MAX);
        for id in vocabulary.ids() {
            let text = vocabulary.text(id).and_then(|text| str::from_utf8(text).ok());
            match (vocabulary.kind(id), text) {
                (Some(kind), Some(text)) if wanted(kind) && !text.is_empty() => {
                    found += text.len();
                    ids.push(id);
                    texts.push(text);
                }
                _ => {}
            }
        }
        if found > limit {
            return Err(Error::SpecialText { found, limit });
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts)
            .map_err(|error| Error::SpecialTokens { reason: error.to_string() })?;
        Ok(Self { automaton, ids })
    }
}
