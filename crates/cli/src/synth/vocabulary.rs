//! The vocabulary of a synthetic model: that of a real file, or one of bytes and made-up words.

use anyhow::{Context as _, Result, ensure};
use minfer_chat::Template;
use minfer_gguf::{Array, File, StringArray, Value};

const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";

/// Types of tokens in the format: normal, unknown, control, unused, byte.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const UNUSED: i32 = 5;
const BYTE: i32 = 6;

/// The `tokenizer.*` entries for a model of `size` tokens.
///
/// # Errors
/// The file's vocabulary is larger, or not whole.
pub fn metadata(size: usize, from: Option<&File>) -> Result<Vec<(String, Value)>> {
    match from {
        Some(file) => padded(size, file),
        None => made_up(size),
    }
}

/// Control tokens of ChatML, the 256 bytes, and words of letters up to the size.
fn made_up(size: usize) -> Result<Vec<(String, Value)>> {
    let mut tokens: Vec<String> =
        ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"].map(String::from).to_vec();
    let mut types = vec![UNKNOWN, CONTROL, CONTROL, CONTROL, CONTROL];
    tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    types.extend([BYTE; 256]);
    ensure!(tokens.len() <= size, "expected room for {} tokens, found {size}", tokens.len());
    let words = size - tokens.len();
    tokens.extend((0..words).map(word));
    types.resize(size, NORMAL);
    let scores: Vec<f32> = (0..size).map(|id| -(id as f32)).collect();
    Ok(vec![
        ("tokenizer.ggml.model".into(), "llama".into()),
        (TOKENS.into(), tokens.into()),
        (SCORES.into(), scores.into()),
        (TYPES.into(), types.into()),
        ("tokenizer.ggml.unknown_token_id".into(), 0_u32.into()),
        ("tokenizer.ggml.bos_token_id".into(), 1_u32.into()),
        ("tokenizer.ggml.eos_token_id".into(), 4_u32.into()),
        ("tokenizer.ggml.add_bos_token".into(), false.into()),
        ("tokenizer.ggml.add_space_prefix".into(), false.into()),
        ("tokenizer.chat_template".into(), Template::chatml().source().into()),
    ])
}

/// Word `index`: a space and letters, each word another.
fn word(index: usize) -> String {
    let mut text = String::from("\u{2581}");
    let mut rest = index;
    loop {
        text.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            return text;
        }
        rest -= 1;
    }
}

/// A file's vocabulary, with unused tokens up to the size.
fn padded(size: usize, file: &File) -> Result<Vec<(String, Value)>> {
    let metadata = file.metadata();
    let found = metadata.require_strings(TOKENS)?.len();
    ensure!(
        found <= size,
        "--tokenizer-from: expected at most the shape's {size} tokens, found {found}"
    );
    let entries = metadata.iter().filter(|(key, _)| key.starts_with("tokenizer."));
    entries
        .map(|(key, value)| {
            let value = match key {
                TOKENS => {
                    let strings = metadata.require_strings(TOKENS)?;
                    let more = (found..size).map(|id| format!("[PAD{id}]").into_bytes());
                    let all: StringArray = strings.iter().map(<[u8]>::to_vec).chain(more).collect();
                    all.into()
                }
                TYPES => {
                    let mut types = metadata.require_i32s(TYPES)?.into_owned();
                    types.resize(size, UNUSED);
                    types.into()
                }
                SCORES => {
                    let mut scores = metadata.require_f32s(SCORES)?.to_vec();
                    scores.resize(size, f32::MIN);
                    Value::Array(Array::F32(scores))
                }
                _other => value.clone(),
            };
            Ok((key.to_owned(), value))
        })
        .collect::<Result<Vec<_>>>()
        .context("taking the vocabulary over")
}
