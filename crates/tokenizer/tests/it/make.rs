//! Small vocabularies, as files in memory.

use minfer_gguf::{Array, File, StringArray, Value, Writer};
use minfer_tokenizer::{Options, Result, Tokenizer};

/// A description of a vocabulary, to be bent by a test.
pub struct Description {
    entries: Vec<(String, Value)>,
}

impl Description {
    /// Sets or replaces `tokenizer.ggml.<key>`.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self = self.without(key);
        self.entries.push((format!("tokenizer.ggml.{key}"), value.into()));
        self
    }

    /// Removes `tokenizer.ggml.<key>`.
    pub fn without(mut self, key: &str) -> Self {
        let key = format!("tokenizer.ggml.{key}");
        self.entries.retain(|(other, _)| *other != key);
        self
    }

    /// The tokenizer, by way of the file format.
    pub fn open(&self, options: &Options) -> Result<Tokenizer> {
        let mut writer = Writer::new();
        for (key, value) in &self.entries {
            writer = writer.kv(key, value.clone());
        }
        let file = File::from_bytes(writer.to_bytes().unwrap()).unwrap();
        Tokenizer::from_metadata(file.metadata(), options)
    }

    /// The tokenizer of a description that is right.
    pub fn tokenizer(&self) -> Tokenizer {
        self.open(&Options::default()).unwrap()
    }
}

/// Strings that need not be UTF-8.
pub fn strings<S: AsRef<[u8]>>(strings: impl IntoIterator<Item = S>) -> Value {
    Value::Array(Array::String(strings.into_iter().collect::<StringArray>()))
}

/// The characters of the byte-level alphabet, in the order of their bytes.
pub fn alphabet() -> Vec<String> {
    let itself = |byte: u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut shifted = 0x100..;
    (0..256)
        .map(|byte| if itself(byte) { byte } else { shifted.next().unwrap() })
        .map(|code| char::from_u32(code).unwrap().to_string())
        .collect()
}

/// Byte-level BPE: 0 `<|begin|>`, 1 `<|im_end|>`, 2… the bytes, then `aa`, `aaaa`, `ab`, `Ġa`, and
/// the user-defined `<tab>`.
pub fn byte_pair() -> Description {
    let mut tokens = vec!["<|begin|>".to_owned(), "<|im_end|>".to_owned()];
    tokens.extend(alphabet());
    tokens.extend(["aa", "aaaa", "ab", "Ġa", "<tab>"].map(str::to_owned));
    let mut kinds = vec![1; tokens.len()];
    kinds[0] = 3;
    kinds[1] = 3;
    *kinds.last_mut().unwrap() = 4;
    Description { entries: Vec::new() }
        .with("model", "gpt2")
        .with("pre", "gpt-2")
        .with("tokens", tokens)
        .with("token_type", kinds)
        .with("merges", vec!["a a", "aa aa", "a b", "Ġ a"])
        .with("bos_token_id", 0u32)
        .with("eos_token_id", 1u32)
}

/// SentencePiece: 0 `<unk>`, 1 `<s>`, 2 `</s>`, 3… the byte tokens, then `▁`, `a`, `b`, `aa`, `ab`,
/// `▁a`, `▁ab`.
pub fn sentence_piece() -> Description {
    let mut tokens: Vec<String> = ["<unk>", "<s>", "</s>"].map(str::to_owned).into();
    tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>")));
    tokens.extend(["▁", "a", "b", "aa", "ab", "▁a", "▁ab"].map(str::to_owned));
    let mut kinds = vec![6; 259];
    kinds[..3].copy_from_slice(&[2, 3, 3]);
    kinds.resize(tokens.len(), 1);
    let scores: Vec<f32> = (0..tokens.len()).map(|id| -(id as f32)).collect();
    Description { entries: Vec::new() }
        .with("model", "llama")
        .with("tokens", tokens)
        .with("token_type", kinds)
        .with("scores", scores)
}
