//! Real models: what they hold, and that their heads are read fast.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use minfer_gguf::File;

use crate::child::use_everything;

fn model(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/models").join(name);
    assert!(path.exists(), "{} is missing: run `cargo xtask models`", path.display());
    path
}

#[test]
fn smollm2_is_read() {
    let file = File::open(model("SmolLM2-135M-Instruct.Q4_1.gguf")).unwrap();
    use_everything(&file);
    let metadata = file.metadata();
    assert_eq!(metadata.require_str("general.architecture").unwrap(), "llama");
    assert_eq!(metadata.require_u32("llama.block_count").unwrap(), 30);
    assert_eq!(metadata.require_strings("tokenizer.ggml.tokens").unwrap().len(), 49_152);
    assert_eq!(file.tensor("token_embd.weight").unwrap().dims, [576, 49_152]);
}

#[test]
fn gemma3_with_262k_tokens_is_read_fast() {
    let path = model("gemma-3-270m-q4_k_m.gguf");
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            let file = File::open(&path).unwrap();
            let time = start.elapsed();
            let tokens = file.metadata().require_strings("tokenizer.ggml.tokens").unwrap();
            assert_eq!(tokens.len(), 262_144);
            time
        })
        .min();
    assert!(best < Some(Duration::from_millis(60)), "{best:?}");
    use_everything(&File::open(&path).unwrap());
}
