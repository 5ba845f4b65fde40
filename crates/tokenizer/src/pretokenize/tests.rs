use std::collections::HashSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tokenizers::utils::SysRegex;

use super::{GEMMA_4, Pass, RULES, Rule, Spaces, Splitter, known_rules, rule};

fn words<'t>(name: &str, text: &'t str) -> Vec<&'t str> {
    let splitter = Splitter::new(rule(name).unwrap()).unwrap();
    splitter.split(text).into_iter().map(|word| &text[word]).collect()
}

#[test]
fn known_splits() {
    let text = "I'm  HERE'S 12345\n\n  x";
    let cases: &[(&str, &[&str])] = &[
        ("gpt-2", &["I", "'m", " ", " HERE", "'", "S", " 12345", "\n\n ", " x"]),
        (
            "smollm",
            &["I", "'m", " ", " HERE", "'", "S", " ", "1", "2", "3", "4", "5", "\n\n ", " x"],
        ),
        ("llama-bpe", &["I", "'m", " ", " HERE", "'S", " ", "123", "45", "\n\n", " ", " x"]),
        (
            "qwen2",
            &["I", "'m", " ", " HERE", "'S", " ", "1", "2", "3", "4", "5", "\n\n", " ", " x"],
        ),
        ("gpt-4o", &["I'm", " ", " HERE'S", " ", "123", "45", "\n\n", " ", " x"]),
    ];
    for (name, expected) in cases {
        assert_eq!(words(name, text), *expected, "{name}");
    }
}

#[test]
fn capitals_start_a_word_in_o200k_alone() {
    assert_eq!(words("gpt-4o", "camelCase JSONParser"), ["camel", "Case", " JSONParser"]);
    assert_eq!(words("tekken", "camelCase don't"), ["camel", "Case", " don", "'t"]);
    assert_eq!(words("qwen2", "camelCase"), ["camelCase"]);
}

#[test]
fn every_name_has_one_rule() {
    let names: Vec<&str> = RULES.iter().flat_map(|rule| rule.names).copied().collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    for name in names {
        assert!(known_rules().contains(name));
        assert!(rule(name).unwrap().names.contains(&name));
    }
    assert!(rule("").is_none());
}

/// The pass as its model publishes it, for an engine with look-ahead.
fn published(pass: &Pass) -> SysRegex {
    let pattern = match pass.spaces {
        Spaces::Keep => pass.pattern.to_owned(),
        Spaces::LeaveLast | Spaces::LeaveLastOfBlanks => {
            let head = pass.pattern.strip_suffix(r"|\s+").unwrap();
            format!(r"{head}|\s+(?!\S)|\s+")
        }
    };
    SysRegex::new(&pattern).unwrap()
}

/// Text of what rules tell apart: letters, digits, marks, spaces, breaks, contractions.
fn texts() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[a-zA-Z]{1,4}",
        "[ \t\n\r\u{a0}\u{3000}\u{2028}]{1,4}",
        "[0-9²½٣]{1,5}",
        "[.,!?'/$+<=>^~|`-]{1,3}",
        "'(s|T|re|VE|m|Ll|d)",
        "[éßſÅжЖ漢字かカ가नम\u{301}\u{93f}ǅ]{1,3}",
        "\\PC",
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// Every rule: compiled here, and as published.
static COMPILED: LazyLock<Vec<(&Rule, Splitter, Vec<SysRegex>)>> = LazyLock::new(|| {
    let rules = RULES.iter().chain([&GEMMA_4]);
    let compile = |rule: &'static Rule| {
        (rule, Splitter::new(rule).unwrap(), rule.passes.iter().map(published).collect())
    };
    rules.map(compile).collect()
});

/// The matches of an expression and the gaps between them.
fn matches_and_gaps<'t>(regex: &SysRegex, piece: &'t str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut done = 0;
    for (start, end) in regex.find_iter(piece) {
        parts.extend([&piece[done..start], &piece[start..end]]);
        done = end;
    }
    parts.push(&piece[done..]);
    parts.retain(|part| !part.is_empty());
    parts
}

proptest! {
    #[test]
    fn passes_equal_the_published_ones(text in texts()) {
        for (rule, splitter, passes) in COMPILED.iter() {
            let mut expected = vec![text.as_str()];
            for regex in passes {
                expected =
                    expected.into_iter().flat_map(|piece| matches_and_gaps(regex, piece)).collect();
            }
            expected.retain(|piece| !piece.is_empty());
            let found: Vec<&str> = splitter.split(&text).into_iter().map(|w| &text[w]).collect();
            prop_assert_eq!(found, expected, "{:?}", rule.names);
        }
    }
}

#[test]
fn a_long_run_of_anything_splits_in_linear_time() {
    for (rule, splitter, _) in COMPILED.iter() {
        for unit in ["a", "A", "漢", "1", "!", " ", "\n", "\r\n", " \n", "a ", "'", "\u{301}"] {
            let text = unit.repeat(100_000);
            let start = Instant::now();
            let words = splitter.split(&text);
            assert!(start.elapsed() < Duration::from_secs(5), "{:?} {unit:?}", rule.names);
            assert_eq!(words.iter().map(ExactSizeIterator::len).sum::<usize>(), text.len());
        }
    }
}
