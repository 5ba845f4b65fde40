//! Prompts from pieces of text, some trusted to hold control tokens and some not.
//!
//! Pieces are joined before they are cut into words, so that the ids are those of the whole text;
//! only control tokens are looked for in each piece alone, and only in trusted ones. A user's text
//! never becomes one, not even together with the text beside it.

use std::collections::HashMap;

use minfer_tokenizer::{Special, Tokenizer};

use crate::engine::Engine;
use crate::error::Error;

/// A piece of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether control tokens that are written in it become their ids.
    pub trusted: bool,
}

/// The literal texts of the control tokens, by first byte, longest first.
#[derive(Debug)]
pub(crate) struct ControlTexts(HashMap<u8, Vec<(String, u32)>>);

enum Run {
    Token(u32),
    Text(String),
}

impl ControlTexts {
    pub(crate) fn new(tokenizer: &Tokenizer) -> ControlTexts {
        let mut texts: HashMap<u8, Vec<(String, u32)>> = HashMap::new();
        for text in tokenizer.control_texts() {
            if let (Some(first), Some(id)) = (text.bytes().next(), tokenizer.id(text)) {
                texts.entry(first).or_default().push((text.to_owned(), id));
            }
        }
        for list in texts.values_mut() {
            list.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        }
        ControlTexts(texts)
    }

    /// The longest control token that `text` starts with.
    fn find(&self, text: &str) -> Option<&(String, u32)> {
        let list = self.0.get(text.as_bytes().first()?)?;
        list.iter().find(|(control, _)| text.starts_with(control.as_str()))
    }

    fn cut(&self, pieces: &[Piece<'_>]) -> Vec<Run> {
        let mut runs = Vec::new();
        for piece in pieces {
            let mut rest = piece.text;
            let mut plain = 0;
            while piece.trusted && plain < rest.len() {
                match self.find(&rest[plain..]) {
                    Some((control, id)) => {
                        push_text(&mut runs, &rest[..plain]);
                        runs.push(Run::Token(*id));
                        rest = &rest[plain + control.len()..];
                        plain = 0;
                    }
                    None => plain += rest[plain..].chars().next().map_or(1, char::len_utf8),
                }
            }
            push_text(&mut runs, rest);
        }
        runs
    }
}

fn push_text(runs: &mut Vec<Run>, text: &str) {
    match runs.last_mut() {
        _ if text.is_empty() => {}
        Some(Run::Text(last)) => last.push_str(text),
        Some(Run::Token(_)) | None => runs.push(Run::Text(text.to_owned())),
    }
}

impl Engine {
    /// The ids of a prompt: those of the pieces, after the begin token where the model's rule wants
    /// one and the text does not already start with it.
    ///
    /// # Errors
    /// As [`Tokenizer::encode`].
    pub fn encode(&self, pieces: &[Piece<'_>]) -> Result<Vec<u32>, Error> {
        let tokenizer = &self.tokenizer;
        let control = self.control.get_or_init(|| ControlTexts::new(tokenizer));
        let mut ids = Vec::new();
        for run in control.cut(pieces) {
            match run {
                Run::Token(id) => ids.push(id),
                Run::Text(text) => ids.extend(tokenizer.encode(&text, Special::Plain)?),
            }
        }
        match tokenizer.prompt_start() {
            Some(bos) if ids.first() != Some(&bos) => ids.insert(0, bos),
            Some(_) | None => {}
        }
        Ok(ids)
    }
}
