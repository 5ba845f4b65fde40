//! What holds for every text and every sequence of ids.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use minfer_tokenizer::{Options, Special, Tokenizer};
use proptest::prelude::*;

use crate::make::{byte_pair, sentence_piece};
use crate::reference::model;

static SMOLLM2: LazyLock<Tokenizer> = LazyLock::new(|| model("SmolLM2-135M-Instruct.Q4_1.gguf"));
static GEMMA3: LazyLock<Tokenizer> = LazyLock::new(|| model("gemma-3-270m-q4_k_m.gguf"));

static SMALL: LazyLock<[Tokenizer; 2]> =
    LazyLock::new(|| [byte_pair().tokenizer(), sentence_piece().tokenizer()]);

/// Text of any characters, with special tokens of both models among them.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "\\PC{0,8}",
        2 => "[a-z ]{0,12}",
        2 => any::<char>().prop_map(String::from),
        1 => prop::sample::select(vec![
            "<|im_start|>", "<|im_end|>", "<bos>", "<eos>", "</s>", "<s>", "<end_of_turn>",
            "\n\n\n", "▁", "▁▁", "     ", "<0x0A>", "<unused7>", "<reponame>",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn byte_level_text_comes_back(text in texts()) {
        // What no training text held has no token: bytes of the planes beyond U+20000.
        let text: String = text.chars().filter(|&c| c < '\u{20000}').collect();
        let plain = SMOLLM2.encode(&text, Special::Plain).unwrap();
        prop_assert_eq!(SMOLLM2.decode(&plain, false), text.clone());
        prop_assert!(!plain.iter().any(|&id| SMOLLM2.is_control(id)));
        let parsed = SMOLLM2.encode(&text, Special::Parse).unwrap();
        prop_assert_eq!(SMOLLM2.decode(&parsed, true), text);
    }

    /// The mark that SentencePiece writes for a space comes back as one.
    #[test]
    fn sentence_piece_text_comes_back(text in texts()) {
        let expected = text.replace('▁', " ");
        let plain = GEMMA3.encode(&text, Special::Plain).unwrap();
        prop_assert_eq!(GEMMA3.decode(&plain, false), expected.clone());
        prop_assert!(!plain.iter().any(|&id| GEMMA3.is_control(id)));
        let parsed = GEMMA3.encode(&text, Special::Parse).unwrap();
        prop_assert_eq!(GEMMA3.decode(&parsed, true), expected);
    }

    #[test]
    fn pushing_ids_gives_the_decoded_whole(
        ids in prop::collection::vec(prop_oneof![0u32..270, 0u32..50_000], 0..40),
        show in any::<bool>(),
    ) {
        for tokenizer in SMALL.iter().chain([&*SMOLLM2, &*GEMMA3]) {
            let shown = |&id: &u32| {
                let piece = tokenizer.piece(id).unwrap_or_default();
                let text = tokenizer.text(id).unwrap_or_default();
                if piece.is_empty() && show { text } else { piece }.to_vec()
            };
            let bytes: Vec<u8> = ids.iter().flat_map(shown).collect();
            let mut decoder = tokenizer.decoder(show);
            let mut text = String::new();
            for &id in &ids {
                text.push_str(&decoder.push(id));
                prop_assert!(decoder.held_bytes() <= 3);
            }
            text.push_str(&decoder.finish());
            prop_assert_eq!(&text, &String::from_utf8_lossy(&bytes));
            prop_assert_eq!(text, tokenizer.decode(&ids, show));
        }
    }
}

#[test]
fn half_a_character_is_held_back() {
    let tokenizer = byte_pair().tokenizer();
    let id = |byte: u8| 2 + u32::from(byte);
    let mut decoder = tokenizer.decoder(false);
    for &byte in &"🙂".as_bytes()[..3] {
        assert_eq!(decoder.push(id(byte)), "");
    }
    assert_eq!(decoder.held_bytes(), 3);
    assert_eq!(decoder.push(id("🙂".as_bytes()[3])), "🙂");
    assert_eq!(decoder.push(id(0xE2)), "");
    assert_eq!(decoder.push(id(b'a')), "\u{FFFD}a");
    assert_eq!(decoder.push(id(0xC3)), "");
    assert_eq!(decoder.finish(), "\u{FFFD}");
}

#[test]
fn a_hundred_thousand_of_one_letter_take_under_a_second() {
    // The bound leaves room for a machine that does other work too.
    let limit = Duration::from_secs(5);
    let options = |pre: &str| Options { pre: Some(pre.to_owned()) };
    let known = byte_pair().open(&options("?")).unwrap_err().to_string();
    let rules: Vec<&str> = known
        .split_once("known are ")
        .and_then(|(_, rest)| rest.split_once(". "))
        .map(|(names, _)| names.split(", ").collect())
        .unwrap();
    assert!(rules.len() > 20, "{rules:?}");
    let opened = rules.iter().map(|pre| byte_pair().open(&options(pre)).unwrap());
    let letters = ["a", "A", "漢", " ", "1", "!", "\n"];
    let small: Vec<Tokenizer> = opened.chain([sentence_piece().tokenizer()]).collect();
    let small = small.iter().map(|tokenizer| (tokenizer, &letters[..1]));
    for (tokenizer, letters) in small.chain([(&*SMOLLM2, &letters[..]), (&*GEMMA3, &letters[..])]) {
        for letter in letters {
            let text = letter.repeat(100_000);
            let start = Instant::now();
            let ids = tokenizer.encode(&text, Special::Plain).unwrap();
            assert!(start.elapsed() < limit, "{letter:?}: {:?}", start.elapsed());
            assert!(tokenizer.decode(&ids, false).ends_with(&text));
        }
    }
}
