//! The tokenizer: a small vocabulary made of the input, and a text through it and back.

use minfer_gguf::{File, Value, Writer};
use minfer_tokenizer::{Options, Special, Tokenizer};

use crate::Outcome;
use crate::choices::Choices;

pub(crate) const DICTIONARY: &[&str] = &[
    "<0x41>",
    "<unk>",
    "<s>",
    "</s>",
    "<|im_end|>",
    "<|eot_id|>",
    "▁",
    "▁▁",
    "Ġ",
    "Ċ",
    "é",
    "漢",
    "🙂",
    " ",
    "\n",
    "\r\n",
    "  ",
    "'s",
    "123",
];

const MODELS: [&str; 4] = ["llama", "gpt2", "gemma4", "bert"];

/// One rule of each kind, by one of its names, and an unknown one.
const RULES: [&str; 13] = [
    "gpt-2",
    "llama-bpe",
    "qwen2",
    "qwen35",
    "smollm",
    "gpt-4o",
    "tekken",
    "dbrx",
    "glm4",
    "deepseek-v3",
    "deepseek-llm",
    "default",
    "none such",
];

const SPACE_MARK: &str = "▁";
const NORMAL: i32 = 1;
const USER_DEFINED: i32 = 4;
const BYTE: i32 = 6;

/// A vocabulary in the making.
#[derive(Default)]
struct Tokens {
    texts: Vec<Vec<u8>>,
    kinds: Vec<i32>,
    scores: Vec<f32>,
}

impl Tokens {
    fn push(&mut self, text: &[u8], kind: i32, score: f32) {
        self.texts.push(text.to_vec());
        self.kinds.push(kind);
        self.scores.push(score);
    }

    /// What lets a vocabulary write any text: every byte, spelled as the model spells it, and
    /// the mark of a space, whose own bytes would read as the mark.
    fn push_all_bytes(&mut self, model: &str) {
        if model == "gpt2" {
            (0..=255u8)
                .for_each(|byte| self.push(alphabet(byte).to_string().as_bytes(), NORMAL, 0.));
            return;
        }
        for (text, kind) in [("<unk>", 2), ("<s>", 3), ("</s>", 3)] {
            self.push(text.as_bytes(), kind, 0.0);
        }
        (0..=255).for_each(|byte| self.push(format!("<0x{byte:02X}>").as_bytes(), BYTE, 0.0));
        self.push(SPACE_MARK.as_bytes(), NORMAL, 0.0);
    }
}

/// The character that stands for a byte in GPT-2's vocabulary: printable ones stand for
/// themselves, the others for the characters from U+0100 on.
fn alphabet(byte: u8) -> char {
    let itself = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    if itself(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&other| !itself(other)).count();
    char::from_u32(256 + before as u32).unwrap_or_default()
}

/// The input is: the model and its flags, the rule, the tokens (each a byte of kind and length,
/// its text, a score), the merges as pairs of places, then the text.
pub fn tokenizer(data: &[u8]) -> Outcome {
    let mut input = Choices::new(data);
    let flags = input.byte();
    let model = MODELS[usize::from(flags & 3)];
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let rule = *input.one(&RULES);
    let mut tokens = Tokens::default();
    let complete = flag(3);
    if complete {
        tokens.push_all_bytes(model);
    }
    let first = tokens.texts.len();
    for _ in 0..input.byte() {
        let form = input.byte();
        let text = input.bytes(usize::from(form & 15));
        // Ordinary tokens are the most useful ones.
        let kind = [NORMAL, 2, 3, USER_DEFINED, 5, BYTE, NORMAL, 9][usize::from(form >> 5)];
        tokens.push(text, kind, f32::from(input.byte() as i8));
    }
    let mut writer = Writer::new().kv("tokenizer.ggml.model", model);
    writer = writer.kv("tokenizer.ggml.pre", rule);
    writer = writer.kv("tokenizer.ggml.merges", merges(&mut input, &tokens.texts));
    for (bit, key) in [(4, "add_space_prefix"), (5, "add_bos_token"), (6, "add_eos_token")] {
        writer = writer.kv(format!("tokenizer.ggml.{key}"), flag(bit));
    }
    if flag(7) {
        for key in ["bos_token_id", "eos_token_id", "unknown_token_id", "eot_token_id"] {
            writer = writer.kv(format!("tokenizer.ggml.{key}"), u32::from(input.byte()));
        }
    }
    let text = String::from_utf8_lossy(input.rest()).into_owned();
    let faithful = complete && !flag(7) && is_faithful(model, &tokens, first, &text);
    let Tokens { texts, kinds, scores } = tokens;
    writer = writer.kv("tokenizer.ggml.tokens", strings(texts));
    writer = writer.kv("tokenizer.ggml.token_type", kinds).kv("tokenizer.ggml.scores", scores);
    let bytes = writer.to_bytes().expect("metadata alone can be written");
    let file = File::from_bytes(bytes).expect("what was written is read");
    let special = if flag(2) { Special::Parse } else { Special::Plain };
    match Tokenizer::from_metadata(file.metadata(), &Options::default()) {
        Ok(tokenizer) => {
            let expected = faithful.then(|| written(model, &text, flag(4)));
            // A file may name any token as the unknown one, a control token too.
            if special == Special::Plain && !flag(7) {
                let ids = tokenizer.encode(&text, special).unwrap_or_default();
                let control = ids.iter().find(|&&id| tokenizer.is_control(id));
                assert_eq!(control, None, "a control token in {ids:?}");
            }
            there_and_back(&tokenizer, &text, special, expected.as_deref())
        }
        Err(error) => Outcome::error(&error),
    }
}

fn strings(texts: Vec<Vec<u8>>) -> Value {
    Value::Array(minfer_gguf::Array::String(texts.into_iter().collect()))
}

fn merges(input: &mut Choices<'_>, texts: &[Vec<u8>]) -> Value {
    let count = input.byte();
    let mut lines = Vec::new();
    for _ in 0..count {
        let places = [input.u32(), input.u32()].map(|place| place as usize % texts.len().max(1));
        let half = |place: usize| texts.get(place).map_or(&[][..], Vec::as_slice);
        lines.push([half(places[0]), half(places[1])].join(&b' '));
    }
    strings(lines)
}

/// Whether this vocabulary gives every text back: the tokens beside the bytes spell what they
/// write, and the text has nothing that the spelling cannot tell from a byte.
fn is_faithful(model: &str, tokens: &Tokens, first: usize, text: &str) -> bool {
    let mut added = tokens.texts[first..].iter().zip(&tokens.kinds[first..]);
    let spelled = added.all(|(text, &kind)| match kind {
        NORMAL => model == "gpt2" || std::str::from_utf8(text).is_ok(),
        USER_DEFINED => model != "llama" && text.iter().all(u8::is_ascii_graphic),
        _ => false,
    });
    spelled && model != "bert" && !text.contains("<0x")
}

/// What a faithful vocabulary gives back.
fn written(model: &str, text: &str, prefixed: bool) -> String {
    if model == "gpt2" {
        return text.to_owned();
    }
    let prefix = if model == "llama" && prefixed && !text.is_empty() { " " } else { "" };
    format!("{prefix}{}", text.replace(SPACE_MARK, " "))
}

fn there_and_back(
    tokenizer: &Tokenizer,
    text: &str,
    special: Special,
    expected: Option<&str>,
) -> Outcome {
    for (id, bytes, _) in tokenizer.vocab_bytes() {
        assert!(tokenizer.kind(id).is_some() && tokenizer.text(id).is_some(), "token {id}");
        assert!(tokenizer.piece(id).is_some_and(|piece| piece.is_empty() || piece == bytes));
    }
    let ids = match tokenizer.encode(text, special) {
        Ok(ids) => ids,
        Err(error) => return Outcome::error(&error),
    };
    let size = tokenizer.vocab_size();
    assert!(ids.iter().all(|&id| (id as usize) < size), "ids {ids:?} of {size}");
    let prompt = tokenizer.encode_prompt(text, special).expect("as without its ends");
    assert!(prompt.windows(ids.len().max(1)).any(|part| part == ids) || ids.is_empty());
    let mut any: Vec<u32> = text.bytes().map(u32::from).collect();
    any.extend([u32::MAX, size as u32]);
    for (ids, show) in [(&ids, true), (&ids, false), (&prompt, true), (&any, true), (&any, false)] {
        let mut decoder = tokenizer.decoder(show);
        let mut pieces = String::new();
        for &id in ids {
            pieces += &decoder.push(id);
            assert!(decoder.held_bytes() <= 3, "{} bytes held back", decoder.held_bytes());
        }
        pieces += &decoder.finish();
        assert_eq!(tokenizer.decode(ids, show), pieces, "{ids:?} at once and one by one");
    }
    if let (Some(expected), Special::Plain) = (expected, special) {
        assert_eq!(tokenizer.decode(&ids, true), expected, "{ids:?}");
    }
    Outcome::sizes(&[size, ids.len(), tokenizer.eog().len()])
}
