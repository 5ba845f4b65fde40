//! Ids and texts of the two real models, as llama.cpp gives them.

use std::path::{Path, PathBuf};

use minfer_gguf::File;
use minfer_tokenizer::{Options, Special, Tokenizer};
use serde_json::Value;

/// A file below the repository's `target` folder.
pub fn target(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(path)
}

/// The tokenizer of a model that `cargo xtask models` brings.
pub fn model(name: &str) -> Tokenizer {
    let path = target("models").join(name);
    assert!(path.exists(), "{} is missing: run `cargo xtask models`", path.display());
    let file = File::open(&path).unwrap();
    Tokenizer::from_metadata(file.metadata(), &Options::default()).unwrap()
}

fn data(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Compares everything that was recorded of a model; at least `cases` texts.
fn check(name: &str, cases: usize) {
    let data = data(name);
    let tokenizer = model(text(&data["model"]));
    assert_eq!(tokenizer.vocab_size() as u64, data["n_vocab"].as_u64().unwrap());
    assert_eq!(tokenizer.bos().map(u64::from), data["bos"].as_u64());
    assert_eq!(tokenizer.eos().map(u64::from), data["eos"].as_u64());
    assert_eq!(tokenizer.prompt_start().is_some(), data["add_bos"].as_bool().unwrap());
    assert_eq!(tokenizer.eog(), ids(&data["eog_tokens"]));
    for &id in tokenizer.eog() {
        assert!(tokenizer.is_eog(id) && tokenizer.is_control(id), "{id}");
    }
    let recorded = data["tokenize"].as_array().unwrap();
    assert!(recorded.len() >= cases);
    for case in recorded {
        let string = text(&case["text"]);
        let prompt = tokenizer.encode_prompt(string, Special::Parse).unwrap();
        assert_eq!(prompt, ids(&case["ids_add_special_parse_special"]), "{string:?}");
        let parsed = tokenizer.encode(string, Special::Parse).unwrap();
        assert_eq!(parsed, ids(&case["ids_parse_special"]), "{string:?}");
        let plain = tokenizer.encode(string, Special::Plain).unwrap();
        assert_eq!(plain, ids(&case["ids_plain"]), "{string:?}");
        assert!(!plain.iter().any(|&id| tokenizer.is_control(id)), "{string:?}");
        assert_eq!(tokenizer.decode(&parsed, true), text(&case["detokenized_special"]));
        assert_eq!(tokenizer.decode(&parsed, false), text(&case["detokenized_nospecial"]));
        assert_eq!(tokenizer.decode(&plain, false), string);
    }
    let prompts = data["prompts"].as_array().unwrap();
    assert!(prompts.len() >= 6);
    for prompt in prompts {
        let found = tokenizer.encode_prompt(text(&prompt["text"]), Special::Parse).unwrap();
        assert_eq!(found, ids(&prompt["ids"]), "{}", prompt["name"]);
    }
}

#[test]
fn smollm2_equals_the_reference() {
    check("smollm2.json", 28);
}

#[test]
fn gemma3_equals_the_reference() {
    check("gemma3.json", 28);
}
