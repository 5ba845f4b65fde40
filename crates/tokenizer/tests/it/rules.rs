//! Begin and end, special tokens, and what decoding shows of them.

use minfer_tokenizer::{Kind, Options, Special, Tokenizer};

use crate::make::{byte_pair, sentence_piece};

#[test]
fn begin_and_end_by_the_kind_of_vocabulary_and_by_the_file() {
    let prompt = |tokenizer: &Tokenizer| tokenizer.encode_prompt("a", Special::Plain).unwrap();
    let a = byte_pair().tokenizer().encode("a", Special::Plain).unwrap()[0];
    assert_eq!(prompt(&byte_pair().tokenizer()), [a]);
    assert_eq!(prompt(&byte_pair().with("pre", "llama-bpe").tokenizer()), [0, a]);
    assert_eq!(prompt(&byte_pair().with("pre", "tekken").tokenizer()), [0, a]);
    let with_end = byte_pair().with("add_bos_token", true).with("add_eos_token", true);
    assert_eq!(prompt(&with_end.tokenizer()), [0, a, 1]);
    assert_eq!(prompt(&byte_pair().without("bos_token_id").tokenizer()), [a]);

    assert_eq!(prompt(&sentence_piece().tokenizer()), [1, 264]);
    assert_eq!(prompt(&sentence_piece().with("add_bos_token", false).tokenizer()), [264]);
    assert_eq!(prompt(&sentence_piece().with("add_space_prefix", false).tokenizer()), [1, 260]);
}

#[test]
fn a_space_prefix_stands_at_the_start_and_after_each_special_token() {
    let tokenizer = sentence_piece().tokenizer();
    assert_eq!(tokenizer.encode("a", Special::Parse).unwrap(), [264]);
    assert_eq!(tokenizer.encode("a<s>a", Special::Parse).unwrap(), [264, 1, 264]);
    assert_eq!(tokenizer.encode("", Special::Parse).unwrap(), [0u32; 0]);
    assert_eq!(tokenizer.decode(&[264], false), " a");
}

#[test]
fn what_no_token_writes_is_written_in_bytes() {
    let tokenizer = sentence_piece().tokenizer();
    let ids = tokenizer.encode("aé", Special::Plain).unwrap();
    assert_eq!(ids, [264, 3 + 0xC3, 3 + 0xA9]);
    assert_eq!(tokenizer.decode(&ids, false), " aé");
    assert_eq!(tokenizer.kind(3), Some(Kind::Byte));
}

#[test]
fn control_tokens_are_text_unless_parsed_and_user_defined_ones_never_are() {
    let tokenizer = byte_pair().tokenizer();
    let text = "<|begin|>a<tab><|im_end|>";
    let parsed = tokenizer.encode(text, Special::Parse).unwrap();
    assert_eq!(parsed, [0, 2 + u32::from(b'a'), 262, 1]);
    assert_eq!(tokenizer.decode(&parsed, true), text);
    assert_eq!(tokenizer.decode(&parsed, false), "a<tab>");
    let plain = tokenizer.encode(text, Special::Plain).unwrap();
    assert!(plain.contains(&262) && !plain.contains(&0) && !plain.contains(&1));
    assert_eq!(tokenizer.decode(&plain, false), text);
}

#[test]
fn of_special_tokens_at_one_place_the_longest_is_taken() {
    let mut kinds = vec![1i32; 263];
    kinds[258] = 4;
    kinds[259] = 4;
    let tokenizer = byte_pair().with("token_type", kinds).tokenizer();
    let a = 2 + u32::from(b'a');
    assert_eq!(tokenizer.encode("aaaaaaa", Special::Plain).unwrap(), [259, 258, a]);
}

#[test]
fn what_ends_a_generation() {
    let tokenizer = byte_pair().with("eot_token_id", 5u32).tokenizer();
    assert_eq!(tokenizer.eog(), [1, 5]);
    let alike = byte_pair().without("token_type").with("eos_token_id", 0u32).tokenizer();
    assert_eq!(alike.eog(), [0, 1]);
    assert!(alike.is_control(1) && alike.is_eog(1) && !alike.is_control(0));
    let ends = |texts: Vec<&str>| {
        let count = texts.len();
        let description = byte_pair().with("tokens", texts).without("token_type");
        let description = description.without("bos_token_id").without("eos_token_id");
        let tokenizer = description.with("merges", vec!["a a"]).tokenizer();
        assert_eq!(tokenizer.vocab_size(), count);
        tokenizer.eog().to_vec()
    };
    assert_eq!(ends(vec!["a", "</s>", "<eos>", "<end_of_turn>"]), [1, 2, 3]);
    assert_eq!(ends(vec!["</s>", "<|tool_response>"]), [1]);
    assert_eq!(ends(vec!["<|end|>", "<|return|>", "<|call|>"]), [1, 2]);
    assert_eq!(ends(vec!["<|end|>", "a"]), [0]);
    assert_eq!(ends(vec!["<reponame>", "<|fim_repo|>"]), [1]);
}

#[test]
fn views_of_the_vocabulary() {
    let tokenizer = byte_pair().tokenizer();
    assert_eq!(tokenizer.control_texts().collect::<Vec<_>>(), ["<|begin|>", "<|im_end|>"]);
    assert_eq!(tokenizer.piece(0), Some(&b""[..]));
    assert_eq!(tokenizer.text(0), Some(&b"<|begin|>"[..]));
    assert_eq!(tokenizer.piece(261), Some(&b" a"[..]));
    assert_eq!(tokenizer.text(261), Some("Ġa".as_bytes()));
    assert_eq!(tokenizer.id("Ġa"), Some(261));
    assert_eq!(
        (tokenizer.piece(263), tokenizer.text(263), tokenizer.kind(263)),
        (None, None, None)
    );
    let tokens: Vec<_> = tokenizer.vocab_bytes().collect();
    assert_eq!(tokens.len(), tokenizer.vocab_size());
    assert_eq!(tokens[1], (1, &b"<|im_end|>"[..], true));
    assert_eq!(tokens[2 + 0x80], (2 + 0x80, &[0x80][..], false));
}

#[test]
fn a_tokenizer_is_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let tokenizer = byte_pair().open(&Options::default()).unwrap();
    shared(&tokenizer);
    shared(&tokenizer.decoder(false));
}
