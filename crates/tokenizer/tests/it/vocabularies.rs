//! Ids of recorded strings in the vocabularies that `tests/vocabularies.py` fetches.

use std::path::Path;

use minfer_gguf::File;
use minfer_tokenizer::{Error, Options, Special, Tokenizer};

use crate::reference::target;

/// Stands between two strings in the fetched files.
const SEPARATOR: &str = "\n__ggml_vocab_test__\n";

fn fetched(name: &str, suffix: &str) -> std::path::PathBuf {
    let path = target("vocabularies").join(format!("ggml-vocab-{name}.gguf{suffix}"));
    assert!(
        path.exists(),
        "{} is missing: run crates/tokenizer/tests/vocabularies.py",
        path.display()
    );
    path
}

fn open(name: &str) -> Result<Tokenizer, Error> {
    let file = File::open(fetched(name, "")).unwrap();
    Tokenizer::from_metadata(file.metadata(), &Options::default())
}

/// Compares the ids of every recorded string; `count` is how many there are.
fn check(name: &str, count: usize) {
    let tokenizer = open(name).unwrap();
    let strings = std::fs::read_to_string(fetched(name, ".inp")).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vocabularies");
    let expected = std::fs::read(folder.join(format!("{name}.json"))).unwrap();
    let expected: Vec<Vec<u32>> = serde_json::from_slice(&expected).unwrap();
    let strings: Vec<&str> = strings.split(SEPARATOR).take(count).collect();
    assert_eq!((strings.len(), expected.len()), (count, count));
    let mut wrong = Vec::new();
    for (string, expected) in strings.into_iter().zip(&expected) {
        let found = tokenizer.encode(string, Special::Plain).unwrap();
        if found != *expected {
            wrong.push(format!("{string:?}\n  found    {found:?}\n  expected {expected:?}"));
        }
        let text = tokenizer.decode(&found, true);
        let space = if string.is_empty() { "" } else { prefix(name) };
        assert_eq!(text, format!("{space}{string}"), "{name}");
    }
    assert!(wrong.is_empty(), "{name}: {} of {count}\n{}", wrong.len(), wrong.join("\n"));
}

/// What a vocabulary writes before a text.
fn prefix(name: &str) -> &'static str {
    match name {
        "llama-spm" | "phi-3" => " ",
        _ => "",
    }
}

macro_rules! vocabularies {
    ($($test:ident: $name:literal, $count:literal;)+) => {
        $(
            #[test]
            fn $test() {
                check($name, $count);
            }
        )+
    };
}

vocabularies! {
    command_r: "command-r", 46;
    deepseek_coder: "deepseek-coder", 46;
    deepseek_llm: "deepseek-llm", 46;
    falcon: "falcon", 46;
    gemma_4: "gemma-4", 46;
    gpt_2: "gpt-2", 46;
    llama_bpe: "llama-bpe", 46;
    llama_spm: "llama-spm", 46;
    mpt: "mpt", 46;
    phi_3: "phi-3", 46;
    qwen2: "qwen2", 46;
    qwen35: "qwen35", 50;
    refact: "refact", 46;
    starcoder: "starcoder", 46;
}

#[test]
fn word_piece_is_refused_by_name() {
    let error = open("bert-bge").unwrap_err();
    assert!(matches!(&error, Error::UnknownModel { found, .. } if found == "bert"), "{error}");
    assert!(error.to_string().contains("gpt2, llama and gemma4"), "{error}");
}
