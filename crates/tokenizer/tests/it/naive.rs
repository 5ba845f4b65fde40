//! Both ways of merging, compared with their definitions: look at all pairs, merge the best one.

use std::collections::HashMap;

use minfer_tokenizer::Special;
use proptest::prelude::*;

use crate::make::{byte_pair, sentence_piece};

/// Merges neighbours until none has a rank; the lowest rank first, of equals the leftmost.
fn merged(text: &str, rank: impl Fn(&str, &str) -> Option<u32>) -> Vec<String> {
    let mut symbols: Vec<String> = text.chars().map(String::from).collect();
    loop {
        let ranked = symbols.windows(2).enumerate();
        let ranked = ranked.filter_map(|(at, pair)| Some((rank(&pair[0], &pair[1])?, at)));
        let Some((_, at)) = ranked.min() else { return symbols };
        let right = symbols.remove(at + 1);
        symbols[at].push_str(&right);
    }
}

/// Texts of two to five letters, with a number each.
fn ranked_texts() -> impl Strategy<Value = Vec<(String, u32)>> {
    prop::collection::hash_map("[abc]{2,5}", 0u32..6, 0..24)
        .prop_map(|texts| texts.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn scores(texts in ranked_texts(), text in "[abcd]{0,24}") {
        let mut tokens: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
        tokens.extend(texts.iter().map(|(text, _)| text.clone()));
        let scores = (0..4).map(|_| 0.0).chain(texts.iter().map(|&(_, rank)| -(rank as f32)));
        let tokenizer = sentence_piece()
            .with("tokens", tokens.clone())
            .with("scores", scores.collect::<Vec<f32>>())
            .without("token_type")
            .with("add_space_prefix", false)
            .tokenizer();
        let ranks: HashMap<&str, u32> =
            texts.iter().map(|(text, rank)| (text.as_str(), *rank)).collect();
        let rank = |left: &str, right: &str| ranks.get(format!("{left}{right}").as_str()).copied();
        let expected = merged(&text, rank);
        let ids = tokenizer.encode(&text, Special::Plain).unwrap();
        let found: Vec<String> = ids.iter().map(|&id| tokens[id as usize].clone()).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn merges(
        texts in ranked_texts(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 1usize..5), 0..32),
        text in "[abcd]{0,24}",
    ) {
        let base = byte_pair().tokenizer();
        let mut tokens: Vec<String> =
            (0..258).map(|id| str::from_utf8(base.text(id).unwrap()).unwrap().to_owned()).collect();
        tokens.extend(texts.iter().map(|(text, _)| text.clone()));
        let mut ranks: HashMap<(String, String), u32> = HashMap::new();
        let mut lines = Vec::new();
        for (index, cut) in cuts {
            let Some((whole, _)) = texts.get(index.index(texts.len().max(1))) else { continue };
            let (left, right) = whole.split_at(cut.min(whole.len() - 1));
            lines.push(format!("{left} {right}"));
            if [left, right].iter().all(|half| tokens.iter().any(|token| token == half)) {
                let rank = lines.len() as u32;
                ranks.entry((left.to_owned(), right.to_owned())).or_insert(rank);
            }
        }
        let tokenizer = byte_pair()
            .with("tokens", tokens.clone())
            .without("token_type")
            .with("merges", lines)
            .tokenizer();
        let expected = merged(&text, |left, right| {
            ranks.get(&(left.to_owned(), right.to_owned())).copied()
        });
        let ids = tokenizer.encode(&text, Special::Plain).unwrap();
        let found: Vec<String> = ids.iter().map(|&id| tokens[id as usize].clone()).collect();
        prop_assert_eq!(found, expected);
    }
}
