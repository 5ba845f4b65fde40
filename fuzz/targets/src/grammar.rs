//! Constrained decoding: any text as a schema, an expression or a Lark grammar, and a walk through
//! the tokens that it allows.

use std::sync::LazyLock;

use minfer_sample::Error;
use minfer_sample::grammar::{Constraint, Grammar, Trie, Vocab};

use crate::Outcome;
use crate::choices::Choices;

pub(crate) const DICTIONARY: &[&str] = &[
    "{\"type\": \"object\"",
    "\"properties\": {",
    "\"required\": [\"a\"]",
    "\"items\": ",
    "\"prefixItems\": [",
    "\"anyOf\": [",
    "\"oneOf\": [",
    "\"allOf\": [",
    "\"not\": ",
    "\"$ref\": \"#\"",
    "\"$defs\": {",
    "\"enum\": [",
    "\"const\": ",
    "\"pattern\": \"^a+$\"",
    "\"format\": \"date-time\"",
    "\"minLength\": 3",
    "\"maxItems\": 99999",
    "\"multipleOf\": 0.01",
    "\"minimum\": -1e308",
    "\"exclusiveMaximum\": 7",
    "\"additionalProperties\": false",
    "\"patternProperties\": {",
    "\"uniqueItems\": true",
    "true",
    "false",
    "null",
    "[a-z]",
    "[^\\n]",
    "\\d",
    "\\w+",
    "\\p{L}",
    "(?i)",
    "(?:",
    ")*",
    "{3,99}",
    "{0,}",
    "|",
    "&",
    "~",
    ".*",
    "start: ",
    "\n",
    "TERM: /a/",
    "rule: ",
    "%ignore /\\s/",
    "%json {",
    "%regex {",
    "%import common.INT",
    "\"a\"..\"z\"",
    "[lazy]",
    "[stop=\"x\"]",
    "[capture]",
    "<|end|>",
    "<[3]>",
    "start: start start",
    "%llguidance {}",
];

const END: u32 = 0;
const CONTROL: u32 = 1;

/// Two control tokens, every byte, and some words.
static TRIE: LazyLock<Trie> = LazyLock::new(|| {
    let mut bytes: Vec<Vec<u8>> = vec![b"<|end|>".to_vec(), b"<|call|>".to_vec()];
    bytes.extend((0..=255).map(|byte| vec![byte]));
    let words =
        ["true", "false", "null", "\":", "\", \"", "{\"", "\"}", "00", "12", " a", "é", "  "];
    bytes.extend(words.map(|word| word.as_bytes().to_vec()));
    bytes.push(Vec::new());
    let special = (0..bytes.len()).map(|id| id < 2).collect();
    Trie::new(Vocab { bytes, special, eos: vec![END] }).expect("the vocabulary is sound")
});

/// Steps of a walk; each computes a mask.
const STEPS_MAX: usize = 24;

/// The input is the kind, the steps of the walk, and the text. A trie of its own each time would
/// cost more than the grammar; one that is busy with compilations that ran out of time says so.
pub fn grammar(data: &[u8]) -> Outcome {
    let mut input = Choices::new(data);
    let kind = input.byte();
    let count = usize::from(input.byte()) % STEPS_MAX;
    let steps = input.bytes(count);
    let text = String::from_utf8_lossy(input.rest()).into_owned();
    let parsed = match kind % 3 {
        0 => Grammar::json_schema(&text),
        1 => Grammar::regex(&text),
        _ => Grammar::lark(&text),
    };
    let walked = parsed.and_then(|grammar| {
        let constraint = Constraint::new(&TRIE, &grammar)?;
        let named = text.contains("<|call|>") || text.contains("<[");
        walk(constraint, steps, kind % 3 != 2 || !named)
    });
    match walked {
        Ok((taken, allowed)) => Outcome::sizes(&[usize::from(kind % 3), taken, allowed]),
        Err(error) => Outcome::error(&error),
    }
}

/// Takes the allowed tokens that `steps` choose; gives how many were taken and the last mask's
/// size.
fn walk(mut constraint: Constraint, steps: &[u8], plain: bool) -> Result<(usize, usize), Error> {
    let mut allowed = 0;
    for (taken, step) in steps.iter().enumerate() {
        if constraint.is_finished() {
            return Ok((taken, allowed));
        }
        let mask = constraint.mask()?.clone();
        allowed = mask.count();
        assert!(allowed > 0, "a mask without a token");
        assert!(!(plain && mask.allows(CONTROL)), "a control token that is not named");
        let complete = constraint.is_complete()?;
        assert_eq!(mask.allows(END), complete, "the end where the text is whole, and there alone");
        let forbidden = (0..TRIE.vocab_size() as u32).find(|&token| !mask.allows(token));
        if let Some(token) = forbidden {
            assert!(constraint.accept(token).is_err(), "token {token} is not in the mask");
        }
        let token = mask.tokens().nth(usize::from(*step) % allowed).expect("within the count");
        let mut fork = constraint.fork();
        for constraint in [&mut constraint, &mut fork] {
            match constraint.accept(token) {
                Err(Error::GrammarToken { .. }) => panic!("token {token} is in the mask"),
                result => result?,
            }
        }
        assert_eq!(constraint.is_finished(), fork.is_finished(), "a fork goes the same way");
    }
    Ok((steps.len(), allowed))
}
