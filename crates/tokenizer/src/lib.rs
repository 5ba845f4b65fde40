//! GGUF vocabularies as tokenizers, and an incremental decoder.
//!
//! [`Tokenizer::from_metadata`] reads `tokenizer.ggml.*` and answers with ids for text and text for
//! ids, the same as the programs that the models were trained and published with. Two kinds of
//! vocabulary are implemented: byte-pair encoding by ranked merges (`gpt2`, with the word-splitting
//! rule that the file names, and `gemma4`), and SentencePiece's merges by score (`llama`). Not
//! here: chat templates, files, and what a model does with an id.
//!
//! Invariants:
//! - No vocabulary and no text makes this crate panic or work without bound: a text of n bytes
//!   takes time in n log n whatever it repeats, and a description that contradicts itself is an
//!   error at load.
//! - With [`Special::Plain`] no text becomes a control token.
//! - [`Decoder`] gives out whole characters only.

mod alphabet;
mod byte_pair;
mod decoder;
mod end;
mod error;
mod merge;
mod pretokenize;
mod sentence_piece;
mod special;
mod tokenizer;
mod vocabulary;

pub use byte_pair::MERGES_MAX;
pub use decoder::Decoder;
pub use error::{Error, Result};
pub use special::{SPECIAL_TEXT_BYTES_MAX, Special};
pub use tokenizer::{Options, Tokenizer};
pub use vocabulary::{Kind, TOKEN_TEXT_BYTES_MAX, TOKENS_MAX};
