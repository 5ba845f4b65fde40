//! The tokens that end a generation.
//!
//! Files name one end token at most reliably, and chat models end a turn with another. Such tokens
//! are known by their texts; the list is that of the models which are in use. A look-alike that
//! the file calls ordinary text is a control token all the same: else a user's text could end, or
//! a model's could fail to end, a turn.

use minfer_gguf::Metadata;

use crate::error::Result;
use crate::tokenizer::token_id;
use crate::vocabulary::{Kind, Vocabulary};

/// Texts that end a turn, a message or a document.
const ENDS: &[&str] = &[
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|flush|>",
    "<|calls|>",
    "<end_of_turn>",
    "<|endoftext|>",
    END_OF_SENTENCE,
    "<|eom_id|>",
    "<EOT>",
    "_<EOT>",
    "[EOT]",
    "[EOS]",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<eos>",
    "<turn|>",
    TOOL_RESPONSE,
    "<｜end▁of▁sentence｜>",
    "[e~[",
];

const END_OF_SENTENCE: &str = "</s>";
const TOOL_RESPONSE: &str = "<|tool_response>";

/// The tokens of fill-in-the-middle that end it: key, and texts if the file does not name it.
const FILL_ENDS: &[(&str, &[&str])] = &[
    (
        "tokenizer.ggml.fim_pad_token_id",
        &["<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"],
    ),
    (
        "tokenizer.ggml.fim_rep_token_id",
        &["<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"],
    ),
    ("tokenizer.ggml.fim_sep_token_id", &["<|file_sep|>"]),
];

/// Finds the tokens that end a generation, in order of their ids, and makes them control tokens.
pub(crate) fn end_tokens(
    metadata: &Metadata,
    vocabulary: &mut Vocabulary,
    eos: Option<u32>,
) -> Result<Vec<u32>> {
    let named = |text: &&str| vocabulary.id(text.as_bytes());
    // Gemma 4 keeps the older end of sentence as ordinary text.
    let ordinary = named(&TOOL_RESPONSE).and(named(&END_OF_SENTENCE));
    let mut ends: Vec<u32> = ENDS.iter().filter_map(named).collect();
    ends.retain(|&id| Some(id) != ordinary);
    for (key, texts) in FILL_ENDS {
        let given = token_id(metadata, key, vocabulary.len())?;
        ends.extend(given.or_else(|| texts.iter().find_map(named)));
    }
    let calls = ["<|call|>", "<|calls|>"].iter().any(|text| named(text).is_some());
    let closes = ["<|return|>", "<|flush|>"].iter().any(|text| named(text).is_some());
    if calls && closes {
        // Where calls and answers have ends of their own, this one only closes a message.
        let message_end = named(&"<|end|>");
        ends.retain(|&id| Some(id) != message_end);
    }
    for &id in &ends {
        vocabulary.set_kind(id, Kind::Control);
    }
    ends.extend(eos);
    for key in ["tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"] {
        ends.extend(token_id(metadata, key, vocabulary.len())?);
    }
    if let Some(id) = ordinary {
        vocabulary.set_kind(id, Kind::Normal);
    }
    ends.sort_unstable();
    ends.dedup();
    Ok(ends)
}
