//! Descriptions that contradict themselves: an error that says what and where, never a panic.

use minfer_tokenizer::{
    Error, Options, SPECIAL_TEXT_BYTES_MAX, Special, TOKEN_TEXT_BYTES_MAX, TOKENS_MAX,
};

use crate::make::{Description, alphabet, byte_pair, sentence_piece, strings};

fn refusal(description: &Description) -> Error {
    description.open(&Options::default()).unwrap_err()
}

#[test]
fn a_key_that_is_missing_or_of_another_type() {
    for key in ["model", "tokens", "merges"] {
        let error = refusal(&byte_pair().without(key));
        assert!(error.to_string().contains(&format!("tokenizer.ggml.{key}")), "{error}");
    }
    for key in ["model", "tokens", "scores"] {
        let error = refusal(&sentence_piece().without(key));
        assert!(error.to_string().contains(&format!("tokenizer.ggml.{key}")), "{error}");
    }
    for key in ["tokens", "token_type", "scores", "bos_token_id", "add_bos_token"] {
        let error = refusal(&sentence_piece().with(key, "text"));
        assert!(matches!(error, Error::Metadata(_)), "{key}: {error}");
    }
    assert!(matches!(
        refusal(&sentence_piece().with("scores", vec![1u8; 266])),
        Error::Metadata(_)
    ));
}

#[test]
fn a_rule_that_is_missing_or_unknown_can_be_overridden() {
    let error = refusal(&byte_pair().without("pre"));
    assert!(matches!(error, Error::MissingRule { .. }), "{error}");
    assert!(error.to_string().contains("--tokenizer-pre"), "{error}");
    let unknown = byte_pair().with("pre", "gpt-9");
    let error = refusal(&unknown);
    assert!(matches!(&error, Error::UnknownRule { found, .. } if found == "gpt-9"), "{error}");
    for part in ["gpt-9", "llama-bpe", "qwen2", "tekken", "--tokenizer-pre"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let options = Options { pre: Some("qwen2".to_owned()) };
    assert_eq!(unknown.open(&options).unwrap().encode("aa", Special::Plain).unwrap(), [258]);
    let options = Options { pre: Some("gpt-9".to_owned()) };
    assert!(matches!(byte_pair().open(&options), Err(Error::UnknownRule { .. })));
}

#[test]
fn models_that_are_not_implemented() {
    for model in ["bert", "t5", "rwkv", "plamo2", "none", ""] {
        let error = refusal(&byte_pair().with("model", model));
        assert!(matches!(&error, Error::UnknownModel { found, .. } if found == model), "{error}");
    }
}

#[test]
fn too_few_or_too_many_tokens() {
    let none = sentence_piece().with("tokens", strings([""; 0]));
    assert!(matches!(refusal(&none), Error::VocabularySize { found: 0, .. }));
    let many = sentence_piece().with("tokens", strings(vec![""; TOKENS_MAX + 1]));
    assert!(matches!(refusal(&many), Error::VocabularySize { .. }));
}

#[test]
fn arrays_of_other_lengths() {
    for count in [0, 265, 267] {
        let types = sentence_piece().with("token_type", vec![1i32; count]);
        assert!(matches!(refusal(&types), Error::ArrayLength { expected: 266, found, .. }
                if found == count));
        let scores = sentence_piece().with("scores", vec![0.0f32; count]);
        assert!(matches!(refusal(&scores), Error::ArrayLength { expected: 266, found, .. }
                if found == count));
    }
}

#[test]
fn types_scores_and_ids_out_of_range() {
    let mut types = vec![1i32; 266];
    types[7] = 9;
    let error = refusal(&sentence_piece().with("token_type", types));
    assert!(matches!(error, Error::TokenType { id: 7, found: 9 }), "{error}");
    let mut scores = vec![0.0f32; 266];
    scores[8] = f32::NAN;
    let error = refusal(&sentence_piece().with("scores", scores));
    assert!(matches!(error, Error::Score { id: 8 }), "{error}");
    for key in ["bos", "eos", "unknown", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"] {
        for id in [266u32, u32::MAX] {
            let error = refusal(&sentence_piece().with(&format!("{key}_token_id"), id));
            assert!(matches!(error, Error::TokenId { found, .. } if found == id), "{error}");
        }
    }
}

#[test]
fn default_ids_that_a_small_vocabulary_lacks_are_none() {
    let tiny = sentence_piece()
        .with("tokens", vec!["a"])
        .with("token_type", vec![1i32])
        .with("scores", vec![0.0f32])
        .tokenizer();
    assert_eq!((tiny.bos(), tiny.eos()), (None, None));
    assert!(tiny.eog().is_empty());
    assert_eq!(tiny.piece(1), None);
    assert_eq!(tiny.encode_prompt("", Special::Plain).unwrap(), [0u32; 0]);
}

#[test]
fn a_byte_token_spells_two_digits() {
    for text in ["<0x-1>", "<0x1>", "<0x001>", "0x01", "<0xGG>", "<0x+1>", ""] {
        let error = refusal(
            &sentence_piece()
                .with("tokens", vec![text])
                .with("token_type", vec![6i32])
                .with("scores", vec![0.0f32]),
        );
        assert!(matches!(&error, Error::ByteToken { id: 0, found } if found == text), "{error}");
    }
}

#[test]
fn infinite_and_equal_scores_have_an_order() {
    let scores: Vec<f32> = (0..266)
        .map(|id| match id {
            262 => f32::INFINITY,
            263 => f32::NEG_INFINITY,
            _ => 0.0,
        })
        .collect();
    let tokenizer = sentence_piece().with("scores", scores).tokenizer();
    assert_eq!(tokenizer.encode("aab", Special::Plain).unwrap(), [259, 262, 261]);
}

#[test]
fn texts_too_long_or_not_utf8_or_twice() {
    let long = "a".repeat(TOKEN_TEXT_BYTES_MAX + 1);
    let error = refusal(&byte_pair().with("tokens", vec!["b", &long]).without("token_type"));
    assert!(matches!(error, Error::TokenText { id: 1, .. }), "{error}");
    let mut tokens: Vec<Vec<u8>> = alphabet().into_iter().map(String::into_bytes).collect();
    tokens.extend([&b"\xFF\xFE"[..], b"aa", b"aa", b""].map(<[u8]>::to_vec));
    let odd = byte_pair().with("tokens", strings(&tokens)).without("token_type").tokenizer();
    assert_eq!(odd.piece(256), Some(&b"\xFF\xFE"[..]));
    assert_eq!(odd.encode("aa", Special::Parse).unwrap(), [257]);
    assert_eq!(odd.decode(&[257, 258, 259], true), "aaaa");
}

#[test]
fn special_tokens_of_too_much_text() {
    let tokens = |count: usize| {
        let texts = (0..count).map(|id| format!("{id:08}{}", "x".repeat(TOKEN_TEXT_BYTES_MAX - 8)));
        sentence_piece()
            .with("tokens", texts.collect::<Vec<String>>())
            .with("token_type", vec![4i32; count])
            .with("scores", vec![0.0f32; count])
    };
    let most = SPECIAL_TEXT_BYTES_MAX / TOKEN_TEXT_BYTES_MAX;
    assert_eq!(tokens(most).tokenizer().vocab_size(), most);
    let error = refusal(&tokens(most + 1));
    assert!(matches!(error, Error::SpecialText { .. }), "{error}");
}

#[test]
fn merges_that_cannot_be() {
    for merge in ["", "a", " ", "a ", "aa"] {
        let error = refusal(&byte_pair().with("merges", vec!["a a", merge]));
        assert!(matches!(error, Error::Merge { index: 1, .. }), "{merge:?}: {error}");
    }
    let long = format!("{0} {0}", "ab".repeat(1 << 20));
    let merges = ["a b", "x y", "a a", "<|begin|> a", "aa zz", "a a", "nope a", &long];
    let tokenizer = byte_pair().with("merges", merges.to_vec()).tokenizer();
    assert_eq!(tokenizer.encode("aaab", Special::Plain).unwrap(), [258, 260]);
}

#[test]
fn a_merge_into_a_control_token_never_applies() {
    let mut tokens = alphabet();
    tokens.extend(["<|", "<|im_end|>"].map(str::to_owned));
    let description = byte_pair()
        .with("tokens", tokens)
        .without("token_type")
        .with("merges", vec!["< |", "<| im_end|>"])
        .with("eos_token_id", 257u32);
    for pre in ["gpt-2", "llama-bpe"] {
        let tokenizer = description.open(&Options { pre: Some(pre.to_owned()) }).unwrap();
        assert!(tokenizer.is_control(257));
        let ids = tokenizer.encode("<|im_end|>", Special::Plain).unwrap();
        assert!(!ids.contains(&257), "{ids:?}");
        assert_eq!(tokenizer.encode("<|im_end|>", Special::Parse).unwrap(), [257]);
    }
}

#[test]
fn what_a_vocabulary_cannot_write() {
    let description = byte_pair().with("tokens", vec!["a"]).without("token_type");
    let tokenizer = description.without("bos_token_id").without("eos_token_id").tokenizer();
    assert_eq!(tokenizer.encode("aba", Special::Plain).unwrap(), [0, 0]);
    let description = sentence_piece()
        .with("tokens", vec!["a"])
        .with("token_type", vec![1i32])
        .with("scores", vec![0.0f32])
        .with("add_space_prefix", false);
    let error = description.tokenizer().encode("ab", Special::Plain).unwrap_err();
    assert!(matches!(error, Error::NoToken { byte: b'b' }), "{error}");
    let unknown = description.with("unknown_token_id", 0u32).tokenizer();
    assert_eq!(unknown.encode("ab", Special::Plain).unwrap(), [0, 0]);
}
