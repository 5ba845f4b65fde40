//! Constrained decoding over a toy vocabulary: each byte a token, some longer tokens, an end token.

use std::time::{Duration, Instant};

use minfer_sample::Error;
use minfer_sample::grammar::{Constraint, Grammar, Trie, Vocab, limits};
use minfer_sample::rng::Draw;
use serde_json::Value;

const EOS: u32 = 256;
const CONTROL: u32 = 257;

fn vocab() -> Vocab {
    let mut vocab = Vocab::default();
    for byte in 0..=255u8 {
        vocab.bytes.push(vec![byte]);
        vocab.special.push(false);
    }
    for name in ["</s>", "<|tool|>"] {
        vocab.bytes.push(name.into());
        vocab.special.push(true);
    }
    for text in ["{\"", "\":", "\", \"", "true", "12", "ab", " a", "null", "},{", "\u{e9}"] {
        vocab.bytes.push(text.into());
        vocab.special.push(false);
    }
    vocab.eos = vec![EOS];
    vocab
}

fn trie() -> Trie {
    Trie::new(vocab()).expect("the toy vocabulary")
}

/// Random allowed tokens until the grammar ends. Ends when it may once 150 tokens are out, and
/// then prefers tokens that close things, so that the walk is finite.
fn walk(trie: &Trie, constraint: &mut Constraint, seed: u64) -> Vec<u8> {
    let words = vocab().bytes;
    let mut text = Vec::new();
    for step in 0..2_000u64 {
        let mask = constraint.mask().expect("a mask");
        assert!(mask.count() > 0);
        assert!(!mask.allows(CONTROL), "a control token is allowed");
        assert_eq!(mask.vocab_size(), trie.vocab_size());
        let mut tokens: Vec<u32> = mask.tokens().collect();
        let ends = tokens.contains(&EOS);
        if step > 150 {
            let closing: Vec<u32> =
                tokens.iter().copied().filter(|t| b"\"}],0e".contains(&(*t as u8))).collect();
            if ends {
                tokens = vec![EOS];
            } else if !closing.is_empty() {
                tokens = closing;
            }
        }
        let token = tokens[(Draw::new(seed, step).token() * tokens.len() as f64) as usize];
        assert_eq!(ends, constraint.is_complete().expect("a state"));
        constraint.accept(token).expect("an allowed token");
        if token == EOS {
            assert!(constraint.is_finished());
            return text;
        }
        text.extend(&words[token as usize]);
    }
    panic!("seed {seed} did not end: {}", String::from_utf8_lossy(&text));
}

fn check_schema(schema: &str, valid: impl Fn(&Value) -> bool) {
    let trie = trie();
    let grammar = Grammar::json_schema(schema).expect("a schema");
    let constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    for seed in 0..40 {
        let text = walk(&trie, &mut constraint.fork(), seed);
        let shown = String::from_utf8_lossy(&text);
        let value: Value = serde_json::from_slice(&text).unwrap_or_else(|e| panic!("{e}: {shown}"));
        assert!(valid(&value), "seed {seed} is not valid: {shown}");
    }
}

#[test]
fn schema_of_an_object() {
    let schema = r#"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 5},
        "age": {"type": "integer", "minimum": 0, "maximum": 130}, "tags": {"type": "array",
        "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 3}},
        "required": ["name", "age", "tags"], "additionalProperties": false}"#;
    check_schema(schema, |v| {
        let object = v.as_object().expect("an object");
        let tags = v["tags"].as_array().expect("an array");
        object.len() == 3
            && v["name"].as_str().is_some_and(|s| s.chars().count() <= 5)
            && v["age"].as_i64().is_some_and(|n| (0..=130).contains(&n))
            && (1..=3).contains(&tags.len())
            && tags.iter().all(|t| t == "a" || t == "b")
    });
}

#[test]
fn schema_with_references_and_choices() {
    let schema = r##"{"$defs": {"leaf": {"type": "boolean"}, "pair": {"type": "array",
        "prefixItems": [{"$ref": "#/$defs/leaf"}, {"type": "null"}], "items": false,
        "minItems": 2}}, "anyOf": [{"$ref": "#/$defs/leaf"}, {"$ref": "#/$defs/pair"}]}"##;
    check_schema(schema, |v| match v {
        Value::Bool(_) => true,
        Value::Array(items) => items.len() == 2 && items[0].is_boolean() && items[1].is_null(),
        _ => false,
    });
}

#[test]
fn schema_with_a_pattern() {
    let schema = r#"{"type": "string", "pattern": "^[ab]{2,4}-[0-9]+$"}"#;
    check_schema(schema, |v| {
        let (letters, digits) = v.as_str().and_then(|s| s.split_once('-')).expect("a dash");
        (2..=4).contains(&letters.len())
            && letters.bytes().all(|b| b"ab".contains(&b))
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    });
}

#[test]
fn any_json_object() {
    let trie = trie();
    let constraint = Constraint::new(&trie, &Grammar::json_object()).expect("a constraint");
    for seed in 0..20 {
        let text = walk(&trie, &mut constraint.fork(), seed);
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        assert!(value.is_object());
    }
}

#[test]
fn regex_is_matched_from_end_to_end() {
    let trie = trie();
    let grammar = Grammar::regex("(ab|c/){2}\"?x").expect("a regex");
    let constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let text = walk(&trie, &mut constraint.fork(), seed);
        seen.insert(String::from_utf8(text).expect("ASCII"));
    }
    let mut expected = std::collections::BTreeSet::new();
    for (first, second) in [("ab", "ab"), ("ab", "c/"), ("c/", "ab"), ("c/", "c/")] {
        for quote in ["", "\""] {
            expected.insert(format!("{first}{second}{quote}x"));
        }
    }
    assert_eq!(seen, expected);
}

#[test]
fn lark_balances_its_parentheses() {
    let trie = trie();
    let text = "start: group\ngroup: \"(\" group* \")\"\n";
    let constraint =
        Constraint::new(&trie, &Grammar::lark(text).expect("a grammar")).expect("a constraint");
    for bytes in ["()", "(())", "(()(()))"] {
        let mut one = constraint.fork();
        for (index, byte) in bytes.bytes().enumerate() {
            assert!(!one.is_complete().expect("a state"), "{bytes} at {index}");
            one.accept(byte.into()).expect("an allowed byte");
        }
        assert!(one.is_complete().expect("a state"));
        assert_eq!(one.mask().expect("a mask").tokens().collect::<Vec<_>>(), [EOS]);
    }
}

#[test]
fn a_refused_token_changes_nothing() {
    let trie = trie();
    let grammar = Grammar::regex("abc").expect("a regex");
    let mut constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    let x = u32::from(b'x');
    assert_eq!(constraint.accept(x), Err(Error::GrammarToken { token: x }));
    assert_eq!(constraint.accept(EOS), Err(Error::GrammarToken { token: EOS }));
    assert_eq!(constraint.accept(CONTROL), Err(Error::GrammarToken { token: CONTROL }));
    let unknown = constraint.accept(1_000_000).expect_err("an unknown token");
    assert!(matches!(unknown, Error::UnknownToken { token: 1_000_000, .. }));
    for byte in *b"abc" {
        constraint.accept(byte.into()).expect("an allowed byte");
    }
    assert!(constraint.is_complete().expect("a state"));
    constraint.accept(EOS).expect("the end");
    assert!(constraint.is_finished());
    assert_eq!(constraint.mask().expect("a mask").tokens().collect::<Vec<_>>(), [EOS]);
}

#[test]
fn forks_do_not_share_their_position() {
    let trie = trie();
    let grammar = Grammar::regex("ab|cd").expect("a regex");
    let mut first = Constraint::new(&trie, &grammar).expect("a constraint");
    let mut second = first.fork();
    first.accept(b'a'.into()).expect("allowed");
    second.accept(b'c'.into()).expect("allowed");
    assert!(first.mask().expect("a mask").allows(b'b'.into()));
    assert!(second.mask().expect("a mask").allows(b'd'.into()));
}

#[test]
fn every_end_token_may_end() {
    let mut vocab = vocab();
    vocab.eos = vec![EOS, CONTROL];
    let trie = Trie::new(vocab).expect("a vocabulary");
    let grammar = Grammar::regex("a").expect("a regex");
    let mut constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    constraint.accept(b'a'.into()).expect("allowed");
    let ends: Vec<u32> = constraint.mask().expect("a mask").tokens().collect();
    assert_eq!(ends, [EOS, CONTROL]);
    constraint.accept(CONTROL).expect("the other end");
    assert!(constraint.is_finished());
}

#[test]
fn a_complement_derives_no_control_token() {
    let trie = trie();
    for (text, named) in [("start: ~/[a-z]+/\n", false), ("start: ~/[a-z]+/ <|tool|>\n", true)] {
        let grammar = Grammar::lark(text).expect("a grammar");
        let mut constraint = Constraint::new(&trie, &grammar).expect("a constraint");
        let complete = constraint.is_complete().expect("a state");
        let mask = constraint.mask().expect("a mask").clone();
        assert_eq!(mask.allows(EOS), complete, "{text}");
        assert_eq!(mask.allows(CONTROL), named, "{text}");
        assert!(mask.allows(b'5'.into()), "{text}");
        let call = constraint.accept(CONTROL);
        assert_eq!(call.is_ok(), named, "{text}: {call:?}");
    }
}

/// What a mask allows is accepted, also where the parser's mask and its reading part: a control
/// token after a complement that has begun.
#[test]
fn a_control_token_in_the_mask_is_accepted() {
    let trie = trie();
    let grammar = Grammar::lark("start: ~ /[a-z]+/ \"a\"..\"z\" <|tool|>\n").expect("a grammar");
    let mut constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    for text in [b'5', b'a', b'7', b'b', b'c'] {
        let mask = constraint.mask().expect("a mask").clone();
        let call = constraint.fork().accept(CONTROL);
        assert_eq!(call.is_ok(), mask.allows(CONTROL), "before {text}: {call:?}");
        if mask.allows(text.into()) {
            constraint.accept(text.into()).expect("allowed");
        }
    }
}

#[test]
fn unusable_vocabularies_are_errors() {
    let check = |change: fn(&mut Vocab)| {
        let mut vocab = vocab();
        change(&mut vocab);
        Trie::new(vocab).map(|_| ()).expect_err("an unusable vocabulary")
    };
    assert!(matches!(check(|v| *v = Vocab::default()), Error::Vocabulary { .. }));
    assert!(matches!(check(|v| v.special.truncate(9)), Error::Vocabulary { .. }));
    assert!(matches!(check(|v| v.eos.clear()), Error::Vocabulary { .. }));
    assert!(matches!(check(|v| v.eos.push(9999)), Error::UnknownToken { token: 9999, .. }));
}

#[test]
fn long_and_empty_tokens_are_never_allowed() {
    let mut vocab = vocab();
    vocab.bytes.extend([vec![b'a'; 5_000], Vec::new(), vec![b'a'; 1_000]]);
    vocab.special.extend([false; 3]);
    let long = vocab.bytes.len() as u32 - 3;
    let trie = Trie::new(vocab).expect("a vocabulary");
    let grammar = Grammar::regex("a*").expect("a regex");
    let mut constraint = Constraint::new(&trie, &grammar).expect("a constraint");
    let mask = constraint.mask().expect("a mask");
    assert!(!mask.allows(long) && !mask.allows(long + 1) && mask.allows(long + 2));
}

enum Make {
    Json,
    Regex,
    Lark,
}

/// Makes a constraint of a hostile text and follows it for some steps; answers what stopped it.
fn hostile(make: Make, text: &str) -> Option<Error> {
    let started = Instant::now();
    let trie = trie();
    let follow = || {
        let grammar = match make {
            Make::Json => Grammar::json_schema(text)?,
            Make::Regex => Grammar::regex(text)?,
            Make::Lark => Grammar::lark(text)?,
        };
        let mut constraint = Constraint::new(&trie, &grammar)?;
        for _ in 0..20 {
            let token = constraint.mask()?.tokens().next().expect("never none");
            constraint.accept(token)?;
            if token == EOS {
                break;
            }
        }
        Ok(())
    };
    let result: Result<(), Error> = follow();
    let bound = limits::COMPILE_TIME_MAX + Duration::from_secs(4);
    assert!(started.elapsed() < bound, "took {:?}: {:.60}", started.elapsed(), text);
    result.err()
}

#[test]
fn bad_syntax_is_a_typed_error() {
    let cases = [
        (Make::Json, ""),
        (Make::Json, "  \n"),
        (Make::Json, "{"),
        (Make::Json, "[]"),
        (Make::Json, "12"),
        (Make::Json, r#"{"type": "nonsense"}"#),
        (Make::Json, r##"{"$ref": "#/nowhere"}"##),
        (Make::Json, r#"{"$ref": "http://example.com/schema"}"#),
        (Make::Json, r#"{"type": "string", "pattern": "("}"#),
        (Make::Json, r#"{"type": "integer", "minimum": 5, "maximum": 4}"#),
        (Make::Json, "false"),
        (Make::Regex, ""),
        (Make::Regex, "("),
        (Make::Regex, "a{3,1}"),
        (Make::Regex, "[z-a]"),
        (Make::Regex, "(?<=a)b"),
        (Make::Regex, "\\"),
        (Make::Regex, "a\\\\\\"),
        (Make::Regex, "*"),
        (Make::Lark, ""),
        (Make::Lark, "start"),
        (Make::Lark, "start: missing\n"),
        (Make::Lark, "start: \"a\nb\"\n"),
        (Make::Lark, "a: \"a\"\n"),
        (Make::Lark, "start: %json { \"type\": \n"),
        (Make::Lark, "start: %lark { start: \"a\" }\n"),
        (Make::Lark, "start: \u{0}\u{7f}\n"),
    ];
    for (make, text) in cases {
        let error = hostile(make, text);
        assert!(matches!(error, Some(Error::GrammarInvalid { .. })), "{text:?}: {error:?}");
    }
}

#[test]
fn limits_hold_at_their_edges() {
    let nested = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
    let groups = |n: usize| format!("{}a{}", "(".repeat(n), ")".repeat(n));
    let lark = |n: usize| format!("start: {}\n", groups(n).replace('a', "\"a\""));
    let repeat = |n: u64| format!("a{{{n}}}");
    let items = |n: u64| format!("{{\"type\": \"array\", \"maxItems\": {n}}}");
    let divides = |n: u64| format!("{{\"multipleOf\": {n}}}");
    let rules = |n: usize| "r: \"a\"\n".repeat(n);
    let bytes = |n: usize| format!("//{}", "x".repeat(n - 2));
    let enums = |n: usize| format!("{{\"enum\": {}}}", nested(n - 1));
    let objects = |n: usize| format!("{{\"enum\": [{}0]}}", "{},".repeat(n - 1));
    type Case = (&'static str, fn(&str) -> Result<Grammar, Error>, String, String);
    let cases: Vec<Case> = vec![
        ("nesting depth", Grammar::json_schema, enums(64), enums(65)),
        ("nesting depth", Grammar::regex, groups(64), groups(65)),
        ("nesting depth", Grammar::lark, lark(64), lark(65)),
        ("operators", Grammar::regex, "a?".repeat(8_192), "a?".repeat(8_193)),
        ("repetitions", Grammar::json_schema, divides(100_000), divides(100_001)),
        ("repetitions", Grammar::regex, repeat(100_000), repeat(100_001)),
        ("repetitions", Grammar::regex, repeat(u64::from(u32::MAX)), String::new()),
        ("repetitions", Grammar::json_schema, items(100_000), items(100_001)),
        ("rules", Grammar::lark, rules(10_000), rules(10_001)),
        ("objects", Grammar::json_schema, objects(10_000), objects(10_001)),
        ("bytes", Grammar::lark, bytes(256 * 1024), bytes(256 * 1024 + 1)),
    ];
    for (expected, make, at_limit, beyond) in cases {
        if beyond.is_empty() {
            assert!(matches!(make(&at_limit), Err(Error::GrammarLimit { .. })));
            continue;
        }
        make(&at_limit).unwrap_or_else(|e| panic!("at the limit of {expected}: {e}"));
        match make(&beyond) {
            Err(Error::GrammarLimit { what, found, limit, .. }) => {
                assert_eq!((what, found), (expected, limit + 1));
            }
            other => panic!("beyond the limit of {expected}: {other:?}"),
        }
    }
}

/// A chain of n rules (or terminals) that name each other.
fn chain(n: usize, first: &str, letter: char) -> String {
    let mut text = format!("start: {first}\n");
    for index in 0..n {
        text += &format!("{letter}{index}: {letter}{}\n", index + 1);
    }
    text + &format!("{letter}{n}: \"x\"\n")
}

/// A schema of n definitions that refer to each other.
fn references(n: usize) -> String {
    let mut text = r##"{"$ref": "#/$defs/a0", "$defs": {"##.to_owned();
    for index in 0..n {
        text += &format!(r##""a{index}": {{"$ref": "#/$defs/a{}"}}, "##, index + 1);
    }
    text + &format!(r#""a{n}": {{"type": "null"}}}}}}"#)
}

/// Terminals that double n times.
fn doubling(n: usize) -> String {
    let mut text = "start: R0\n".to_owned();
    for index in 0..n {
        text += &format!("R{index}: R{0} R{0}\n", index + 1);
    }
    text + &format!("R{n}: /[a-z]+/\n")
}

fn hostile_texts() -> Vec<(&'static str, Make, String)> {
    let big = 250 * 1024;
    let properties: Vec<String> =
        (0..3_000).map(|n| format!("\"p{n}\": {{\"type\": \"integer\"}}")).collect();
    vec![
        ("regex, many options", Make::Regex, "a?".repeat(4_000)),
        ("regex, long literal", Make::Regex, "abcdefgh".repeat(big / 8)),
        ("regex, many choices", Make::Regex, "ab|".repeat(8_000) + "c"),
        ("regex, stacked operators", Make::Regex, "a".to_owned() + &"+?".repeat(4_000)),
        ("regex, nested repeats", Make::Regex, "((a{0,300}b?){0,300}c?)".to_owned()),
        ("regex, unicode classes", Make::Regex, r"\w{0,1000}\W{0,1000}".repeat(20)),
        ("regex, long counter", Make::Regex, "(.*a.{100000})".to_owned()),
        ("regex, blow-up", Make::Regex, "(a|b)*a(a|b){3000}".to_owned()),
        ("lark, rule chain", Make::Lark, chain(9_900, "r0", 'r')),
        ("lark, terminal chain", Make::Lark, chain(120, "R0", 'R')),
        (
            "lark, operators",
            Make::Lark,
            "start: a".to_owned() + &"?".repeat(8_000) + "\na: \"a\"\n",
        ),
        ("lark, choices", Make::Lark, "start: a".to_owned() + &"|a".repeat(8_000) + "\na: \"a\""),
        ("lark, doubling terminals", Make::Lark, doubling(10)),
        (
            "lark, long rule",
            Make::Lark,
            "start: ".to_owned() + &"a ".repeat(big / 2) + "\na: \"a\"\n",
        ),
        (
            "lark, repeats",
            Make::Lark,
            "start: ".to_owned() + &"a{9,99999} ".repeat(400) + "\na: \"a\"\n",
        ),
        ("lark, left recursion", Make::Lark, "start: start start | \"a\" |\n".to_owned()),
        ("lark, ambiguity", Make::Lark, "start: s\ns: s s s | s s | \"a\"{0,100} |\n".to_owned()),
        ("json, references", Make::Json, references(5_000)),
        ("json, reference loop", Make::Json, r##"{"$ref": "#"}"##.to_owned()),
        (
            "json, properties",
            Make::Json,
            format!("{{\"properties\": {{{}}}}}", properties.join(",")),
        ),
        ("json, long string", Make::Json, r#"{"type":"string","maxLength":100000}"#.to_owned()),
        ("json, allOf", Make::Json, format!("{{\"allOf\": [{}{{}}]}}", "{},".repeat(9_000))),
    ]
}

/// Texts within the limits that ask for as much as they can. They compile or end in a typed error,
/// in time and without exhausting the stack.
#[test]
fn hostile_grammars_within_the_limits_end_in_time() {
    for (name, make, text) in hostile_texts() {
        let error = hostile(make, &text);
        let typed = matches!(
            error,
            None | Some(
                Error::GrammarInvalid { .. }
                    | Error::GrammarStep { .. }
                    | Error::GrammarTime { .. }
                    | Error::GrammarLimit { .. }
            )
        );
        assert!(typed, "{name}: {error:?}");
    }
}
