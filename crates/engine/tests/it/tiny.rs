//! Tiny models of every architecture, made from blueprints, with a byte-level vocabulary.

use minfer_gguf::{File, Writer};
use minfer_models::Blueprint;
use minfer_quant::Quant;

/// The five architectures; gemma3 has a window of 40 on all layers but one.
pub const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "gemma3", "qwen3moe"];

/// The end token of the vocabulary.
pub const END: u32 = 286;

/// A file of one of [`ARCHITECTURES`] whose matrices are stored as `quant`.
pub fn file(architecture: &'static str, quant: Quant) -> File {
    File::from_bytes(bytes(architecture, quant)).unwrap()
}

/// The file's bytes.
pub fn bytes(architecture: &'static str, quant: Quant) -> Vec<u8> {
    let blueprint = blueprint(architecture);
    let mut writer = Writer::new();
    for (key, value) in blueprint.metadata() {
        writer = writer.kv(key, value);
    }
    writer = vocabulary(writer);
    let mut random = Random(7);
    for tensor in blueprint.tensors().unwrap() {
        let count: u64 = tensor.dims.iter().product();
        let vector = tensor.dims.len() == 1;
        let spread = 2.0 / (tensor.dims[0] as f32).sqrt();
        let values: Vec<f32> = (0..count)
            .map(|_| if vector { 1.0 + 0.2 * random.next() } else { spread * random.next() })
            .collect();
        let quant = if vector { Quant::F32 } else { quant };
        let rows = count as usize / tensor.dims[0] as usize;
        let mut data = vec![0; quant.row_bytes(tensor.dims[0] as usize).unwrap() * rows];
        quant.encode(&values, &mut data).unwrap();
        writer = writer.tensor(tensor.name, quant, tensor.dims, data);
    }
    writer.to_bytes().unwrap()
}

fn blueprint(architecture: &'static str) -> Blueprint {
    let tiny = Blueprint::tiny(architecture, 64);
    match architecture {
        "qwen2" => tiny.with_biases(),
        "gemma3" => tiny.with_window(40).with_layers(7),
        "qwen3moe" => tiny.with_experts(4, 2, 64),
        _ => tiny,
    }
}

/// 256 bytes, 30 merges of them, an end and a begin token.
fn vocabulary(writer: Writer<'_>) -> Writer<'_> {
    let letter = |byte: u8| match byte {
        b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF => char::from(byte).to_string(),
        b' ' => 'Ġ'.to_string(),
        _ => {
            let before =
                (0..byte).filter(|b| !matches!(b, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF));
            char::from_u32(256 + before.count() as u32).unwrap().to_string()
        }
    };
    let mut tokens: Vec<String> = (0..=255).map(letter).collect();
    let mut merges = Vec::new();
    for second in b'a'..b'a' + 15 {
        for first in [b'e', b't'] {
            let (first, second) = (letter(first), letter(second));
            merges.push(format!("{first} {second}"));
            tokens.push(format!("{first}{second}"));
        }
    }
    tokens.extend(["<|end|>".to_string(), "<|start|>".to_string()]);
    let kinds: Vec<i32> = (0..288).map(|id| if id < END as i32 { 1 } else { 3 }).collect();
    writer
        .kv("tokenizer.ggml.model", "gpt2")
        .kv("tokenizer.ggml.pre", "gpt-2")
        .kv("tokenizer.ggml.tokens", tokens)
        .kv("tokenizer.ggml.merges", merges)
        .kv("tokenizer.ggml.token_type", kinds)
        .kv("tokenizer.ggml.eos_token_id", END)
}

/// A small generator of numbers (xorshift64*), the same everywhere.
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    /// The next 32 bits.
    pub fn bits(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) as u32
    }

    /// A number from 0 to `end`, exclusive.
    pub fn below(&mut self, end: usize) -> usize {
        self.bits() as usize % end
    }

    /// A number from -1 to 1.
    pub fn next(&mut self) -> f32 {
        self.bits() as f32 / (1u32 << 31) as f32 - 1.0
    }
}
