//! The commands: one row of `table.rs` and one file each.

mod answer;
mod bench;
mod chat;
mod completions;
mod config;
mod devices;
mod docs;
mod explain;
mod inspect;
mod line;
mod list;
mod load;
mod logprob;
mod perplexity;
mod planned;
mod prompt;
mod pull;
mod report;
mod rm;
mod run;
mod sampling;
mod score;
mod self_test;
mod suggest;
mod synth;
mod table;
mod tokenize;
mod trace;
mod version;

pub use suggest::suggest;
pub use table::{COMMANDS, CommandRow, Positional};

/// A token's text for people and JSON: of a special token its name, of half a character the
/// replacement character.
fn piece(tokenizer: &minfer_tokenizer::Tokenizer, id: u32) -> String {
    let bytes = match tokenizer.piece(id) {
        None | Some([]) => tokenizer.text(id).unwrap_or_default(),
        Some(bytes) => bytes,
    };
    String::from_utf8_lossy(bytes).into_owned()
}
