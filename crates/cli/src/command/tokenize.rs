//! `minfer tokenize`: the ids and pieces of a text.

use anyhow::Result;
use minfer_tokenizer::{Options, Special, Tokenizer};
use serde_json::json;

use super::{load, prompt};
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// The command.
///
/// # Errors
/// No model, no text, or a text that the vocabulary cannot write.
pub fn run(settings: &Settings, style: Style) -> Result<()> {
    let text = prompt::text(settings, "TEXT")?;
    let file = load::file(settings, style)?;
    let options = Options { pre: settings.text(&table::TOKENIZER_PRE).map(str::to_owned) };
    let tokenizer = Tokenizer::from_metadata(file.metadata(), &options)?;
    let ids = encode(settings, &tokenizer, &text)?;
    let pieces = || ids.iter().map(|id| super::piece(&tokenizer, *id));
    if settings.on(&table::JSON) {
        return output::json(&json!({ "ids": ids, "pieces": pieces().collect::<Vec<_>>() }));
    }
    let lines: Vec<String> =
        ids.iter().zip(pieces()).map(|(id, piece)| format!("{id:>8}  {piece:?}\n")).collect();
    output::print(&lines.concat())
}

/// The ids of a text: with the begin token by the model's rule, and control tokens read, unless
/// the settings say otherwise.
///
/// # Errors
/// The vocabulary cannot write the text.
pub fn encode(settings: &Settings, tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>> {
    let special = if settings.on(&table::SPECIAL) { Special::Parse } else { Special::Plain };
    Ok(if settings.on(&table::BOS) {
        tokenizer.encode_prompt(text, special)?
    } else {
        tokenizer.encode(text, special)?
    })
}
