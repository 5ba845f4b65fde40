//! Constrained decoding: JSON schemas, regular expressions and Lark grammars as token masks.
//!
//! A [`Grammar`] is a checked source text. A [`Vocab`] is what the tokenizer knows, and a [`Trie`]
//! the index made of it, once per model. Together they compile to a [`Constraint`], one per
//! request, that says before each token which ones are allowed and is told which one was chosen.
//!
//! The parsing and the masks are the `llguidance` crate's (an Earley parser over lexemes that are
//! derivatives of regular expressions); this module adds the limits and the types. Sources come
//! from requests and are hostile until compiled: [`limits`] bounds size, depth, rules and repeats
//! before the compiler sees a text, and the compiler itself runs on a thread of its own with a
//! deep stack and a deadline. No text a request sends ends in a panic or an unbounded wait.
//!
//! Not for tokens: control tokens are never allowed unless a Lark grammar names them.

mod compile;
mod constraint;
pub mod limits;
mod scan;
mod scan_lark;
mod source;
mod vocab;

pub use constraint::Constraint;
pub use source::Grammar;
pub use vocab::{Trie, Vocab};

#[cfg(test)]
mod scan_tests;
