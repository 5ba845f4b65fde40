//! Builds GGUF bytes field by field, right or wrong, without the crate's own writer.

/// Type ids of metadata values.
pub const U8: u32 = 0;
pub const U16: u32 = 2;
pub const U32: u32 = 4;
pub const I32: u32 = 5;
pub const F32: u32 = 6;
pub const BOOL: u32 = 7;
pub const STRING: u32 = 8;
pub const ARRAY: u32 = 9;
pub const U64: u32 = 10;

/// A metadata entry: key, type id, and the value's bytes.
#[derive(Clone)]
pub struct Entry {
    pub key: Vec<u8>,
    pub type_id: u32,
    pub value: Vec<u8>,
}

/// A row of the tensor table; `rank` is what the file claims, `dims` what it holds.
#[derive(Clone)]
pub struct Row {
    pub name: Vec<u8>,
    pub rank: u32,
    pub dims: Vec<u64>,
    pub type_id: u32,
    pub offset: u64,
}

/// A file in pieces.
#[derive(Clone)]
pub struct Raw {
    pub version: u32,
    pub entries: Vec<Entry>,
    pub rows: Vec<Row>,
    pub alignment: usize,
    pub data: Vec<u8>,
}

/// A u64 length, then the bytes.
pub fn text(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

/// Element type, count, and the elements' bytes.
pub fn array(type_id: u32, count: u64, elements: &[u8]) -> Vec<u8> {
    [&type_id.to_le_bytes()[..], &count.to_le_bytes(), elements].concat()
}

pub fn entry(key: impl AsRef<[u8]>, type_id: u32, value: impl AsRef<[u8]>) -> Entry {
    Entry { key: key.as_ref().to_vec(), type_id, value: value.as_ref().to_vec() }
}

/// A header that claims `tensors` and `keys`, and whatever follows.
pub fn header(version: u32, tensors: u64, keys: u64, rest: &[u8]) -> Vec<u8> {
    let (tensors, keys) = (tensors.to_le_bytes(), keys.to_le_bytes());
    [b"GGUF", &version.to_le_bytes()[..], &tensors, &keys, rest].concat()
}

/// A header that claims one key, and the bytes of that key: `key`, a type id, the value.
pub fn one_key(key: impl AsRef<[u8]>, type_id: u32, value: impl AsRef<[u8]>) -> Vec<u8> {
    header(3, 0, 1, &[text(key), type_id.to_le_bytes().to_vec(), value.as_ref().to_vec()].concat())
}

/// The base model's vocabulary: three control tokens, all bytes, 26 letters, three more.
pub fn vocabulary() -> Vec<Vec<u8>> {
    let mut tokens: Vec<Vec<u8>> = ["<unk>", "<s>", "</s>"].map(|token| token.into()).to_vec();
    tokens.extend((0..256).map(|byte| format!("<0x{byte:02X}>").into_bytes()));
    tokens.extend((b'a'..=b'z').map(|letter| vec![letter]));
    tokens.extend(["\u{2581}", "A", "B"].map(|token| token.into()));
    tokens
}

pub fn tokens_entry(tokens: &[Vec<u8>]) -> Entry {
    let body: Vec<u8> = tokens.iter().flat_map(text).collect();
    entry("tokenizer.ggml.tokens", ARRAY, array(STRING, tokens.len() as u64, &body))
}

const TENSORS: [(&str, &[u64]); 12] = [
    ("token_embd.weight", &[32, 288]),
    ("blk.0.attn_norm.weight", &[32]),
    ("blk.0.attn_q.weight", &[32, 32]),
    ("blk.0.attn_k.weight", &[32, 32]),
    ("blk.0.attn_v.weight", &[32, 32]),
    ("blk.0.attn_output.weight", &[32, 32]),
    ("blk.0.ffn_norm.weight", &[32]),
    ("blk.0.ffn_gate.weight", &[32, 64]),
    ("blk.0.ffn_up.weight", &[32, 64]),
    ("blk.0.ffn_down.weight", &[64, 32]),
    ("output_norm.weight", &[32]),
    ("output.weight", &[32, 288]),
];

/// Bytes of the base model's data.
pub const DATA_BYTES: u64 = 115_072;

fn base_entries() -> Vec<Entry> {
    let number = |key: &str, value: u32| entry(key, U32, value.to_le_bytes());
    let tokens = vocabulary();
    let count = tokens.len() as u64;
    let scores: Vec<u8> = (0..288).flat_map(|id| (-(id as f32)).to_le_bytes()).collect();
    let kind = |id| match id {
        0 => 2u32,
        1..3 => 3,
        3..259 => 6,
        _ => 1,
    };
    let kinds: Vec<u8> = (0..288).flat_map(|id| kind(id).to_le_bytes()).collect();
    vec![
        entry("general.architecture", STRING, text("llama")),
        number("general.alignment", 32),
        number("llama.context_length", 64),
        number("llama.embedding_length", 32),
        number("llama.block_count", 1),
        number("llama.feed_forward_length", 64),
        number("llama.attention.head_count", 1),
        number("llama.attention.head_count_kv", 1),
        entry("llama.attention.layer_norm_rms_epsilon", F32, 1e-5f32.to_le_bytes()),
        number("llama.rope.dimension_count", 32),
        entry("llama.rope.freq_base", F32, 10_000f32.to_le_bytes()),
        entry("tokenizer.ggml.model", STRING, text("llama")),
        tokens_entry(&tokens),
        entry("tokenizer.ggml.scores", ARRAY, array(F32, count, &scores)),
        entry("tokenizer.ggml.token_type", ARRAY, array(I32, count, &kinds)),
        number("tokenizer.ggml.bos_token_id", 1),
        number("tokenizer.ggml.eos_token_id", 2),
        entry(
            "tokenizer.chat_template",
            STRING,
            text("{% for m in messages %}{{ m['content'] }}{% endfor %}"),
        ),
    ]
}

impl Raw {
    /// A whole tiny llama model that loads.
    pub fn base() -> Self {
        let mut offset = 0;
        let rows = TENSORS.iter().map(|(name, dims)| {
            let start = offset;
            offset += dims.iter().product::<u64>() * 4;
            row(name, dims, 0, start)
        });
        let rows = rows.collect();
        let value = |i: u64| ((i * 2_654_435_761 % 1000) as f64 / 1000.0 - 0.5) as f32;
        let data = (0..DATA_BYTES / 4).flat_map(|i| value(i).to_le_bytes()).collect();
        Self { version: 3, entries: base_entries(), rows, alignment: 32, data }
    }

    /// A model of no keys, with these rows and data.
    pub fn of_rows(rows: Vec<Row>, data: Vec<u8>) -> Self {
        Self { version: 3, entries: Vec::new(), rows, alignment: 32, data }
    }

    /// Replaces the entry of the same key, in place, or appends the entry.
    pub fn set(mut self, new: Entry) -> Self {
        match self.entries.iter_mut().find(|entry| entry.key == new.key) {
            Some(old) => *old = new,
            None => self.entries.push(new),
        }
        self
    }

    /// Appends an entry, whatever is there already.
    pub fn append(mut self, new: Entry) -> Self {
        self.entries.push(new);
        self
    }

    pub fn without(mut self, key: &str) -> Self {
        self.entries.retain(|entry| entry.key != key.as_bytes());
        self
    }

    /// Changes one row of the tensor table.
    pub fn row(mut self, index: usize, change: impl FnOnce(&mut Row)) -> Self {
        change(&mut self.rows[index]);
        self
    }

    /// Changes the last row, `output.weight` in the base model.
    pub fn last_row(self, change: impl FnOnce(&mut Row)) -> Self {
        let last = self.rows.len() - 1;
        self.row(last, change)
    }

    /// Header, metadata and tensor table, padded to the alignment.
    pub fn head(&self) -> Vec<u8> {
        let mut rest = Vec::new();
        for Entry { key, type_id, value } in &self.entries {
            rest.extend([&text(key)[..], &type_id.to_le_bytes(), value].concat());
        }
        for Row { name, rank, dims, type_id, offset } in &self.rows {
            rest.extend([&text(name)[..], &rank.to_le_bytes()].concat());
            rest.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
            rest.extend([&type_id.to_le_bytes()[..], &offset.to_le_bytes()].concat());
        }
        let (rows, keys) = (self.rows.len() as u64, self.entries.len() as u64);
        let mut head = header(self.version, rows, keys, &rest);
        head.resize(head.len().next_multiple_of(self.alignment), 0);
        head
    }

    pub fn build(&self) -> Vec<u8> {
        [self.head(), self.data.clone()].concat()
    }
}

pub fn row(name: impl AsRef<[u8]>, dims: &[u64], type_id: u32, offset: u64) -> Row {
    let name = name.as_ref().to_vec();
    Row { name, rank: dims.len() as u32, dims: dims.to_vec(), type_id, offset }
}
