//! Merges compared with the BPE model of the `tokenizers` crate.

use std::sync::LazyLock;

use minfer_gguf::File;
use minfer_tokenizer::{Options, Special, Tokenizer};
use proptest::prelude::*;
use tokenizers::Model;
use tokenizers::models::bpe::{BPE, Vocab};

use crate::make::alphabet;
use crate::reference::target;

static BOTH: LazyLock<(Tokenizer, BPE)> = LazyLock::new(|| {
    let file = File::open(target("models/SmolLM2-135M-Instruct.Q4_1.gguf"))
        .expect("run `cargo xtask models`");
    let metadata = file.metadata();
    let tokens = metadata.require_strings("tokenizer.ggml.tokens").unwrap();
    let vocabulary: Vocab =
        tokens.texts().enumerate().map(|(id, text)| (text.into_owned(), id as u32)).collect();
    let merges = metadata.require_strings("tokenizer.ggml.merges").unwrap();
    let halves = |line: std::borrow::Cow<'_, str>| {
        let (left, right) = line.split_once(' ').unwrap();
        (left.to_owned(), right.to_owned())
    };
    let merges = merges.texts().map(halves).collect();
    let model = BPE::builder().vocab_and_merges(vocabulary, merges).build().unwrap();
    (Tokenizer::from_metadata(metadata, &Options::default()).unwrap(), model)
});

proptest! {
    #[test]
    fn words_of_letters(word in prop_oneof![
        "[a-z]{1,40}", "[A-Za-z]{1,12}", "[a-e]{1,200}", "[éüñßжшщ漢字]{1,12}",
        "(the|ing|tion|er|un|able|pre|ss|s){1,12}",
    ]) {
        let (tokenizer, model) = &*BOTH;
        let alphabet = alphabet();
        let character = |byte: u8| alphabet[usize::from(byte)].as_str();
        let spelled: String = word.bytes().map(character).collect();
        let expected: Vec<u32> =
            model.tokenize(&spelled).unwrap().into_iter().map(|token| token.id).collect();
        prop_assert_eq!(tokenizer.encode(&word, Special::Plain).unwrap(), expected);
    }
}
