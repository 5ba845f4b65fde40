//! A grammar's source, checked against the limits.

use std::collections::HashSet;

use serde_json::Value;

use super::limits::{BYTES_MAX, DEPTH_MAX, OPERATORS_MAX, REPEAT_MAX, RULES_MAX};
use super::scan::{self, Shape};
use super::scan_lark;
use crate::Error;

pub(super) const JSON_SCHEMA: &str = "JSON schema";
pub(super) const REGEX: &str = "regular expression";
pub(super) const LARK: &str = "Lark grammar";

/// A grammar within the limits, not yet compiled for a vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Grammar {
    pub(super) source: Source,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    JsonSchema(Value),
    Regex(String),
    Lark(String),
}

impl Grammar {
    /// JSON that is valid under a schema (a JSON text). References reach into the schema only.
    pub fn json_schema(text: &str) -> Result<Grammar, Error> {
        check_bytes(JSON_SCHEMA, text)?;
        check_shape(JSON_SCHEMA, scan::json(text.as_bytes()))?;
        let schema: Value = serde_json::from_str(text)
            .map_err(|e| invalid(JSON_SCHEMA, &format!("it is not JSON: {e}")))?;
        if !schema.is_object() && !schema.is_boolean() {
            return Err(invalid(JSON_SCHEMA, "it is neither an object nor a boolean"));
        }
        let mut shape = Shape::default();
        measure_schema(&schema, &mut shape);
        check_shape(JSON_SCHEMA, shape)?;
        Ok(Grammar { source: Source::JsonSchema(schema) })
    }

    /// Any JSON object.
    pub fn json_object() -> Grammar {
        Grammar { source: Source::JsonSchema(serde_json::json!({"type": "object"})) }
    }

    /// Text that a regular expression matches from end to end (the `regex` crate's syntax, without
    /// look-around and back references).
    pub fn regex(text: &str) -> Result<Grammar, Error> {
        check_bytes(REGEX, text)?;
        check_shape(REGEX, scan::regex(text.as_bytes()))?;
        // The compiler would drop it silently.
        if text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1 {
            return Err(invalid(REGEX, "it ends in a backslash that escapes nothing"));
        }
        Ok(Grammar { source: Source::Regex(text.to_owned()) })
    }

    /// Text that a grammar in llguidance's variant of Lark derives from its rule `start`.
    pub fn lark(text: &str) -> Result<Grammar, Error> {
        check_bytes(LARK, text)?;
        let found = scan_lark::lark(text.as_bytes());
        if found.nested {
            return Err(invalid(
                LARK,
                "it holds a grammar of its own (%lark), which is not supported",
            ));
        }
        let mut shape = found.shape;
        check_shape(LARK, shape)?;
        for text in found.schemas {
            let schema: Value = serde_json::from_slice(text)
                .map_err(|e| invalid(LARK, &format!("after %json stands no JSON: {e}")))?;
            measure_schema(&schema, &mut shape);
        }
        check_shape(LARK, shape)?;
        Ok(Grammar { source: Source::Lark(text.to_owned()) })
    }

    /// The control tokens that the text names, where others must be hidden: complements (`~`)
    /// match the bytes by which the compiler tells control tokens from text. `None` where there is
    /// no complement, or tokens are named by number.
    pub(super) fn control_names(&self) -> Option<HashSet<Vec<u8>>> {
        match &self.source {
            Source::Lark(text) if text.contains('~') && !text.contains("<[") => {
                let names = text.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
                Some(names.map(|(name, _)| format!("<{name}>").into_bytes()).collect())
            }
            Source::Lark(_) | Source::JsonSchema(_) | Source::Regex(_) => None,
        }
    }

    /// "JSON schema", "regular expression" or "Lark grammar".
    pub fn kind(&self) -> &'static str {
        match self.source {
            Source::JsonSchema(_) => JSON_SCHEMA,
            Source::Regex(_) => REGEX,
            Source::Lark(_) => LARK,
        }
    }
}

fn check_bytes(kind: &'static str, text: &str) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(invalid(kind, "it is empty"));
    }
    limit(kind, "bytes", text.len() as u64, BYTES_MAX as u64)
}

fn check_shape(kind: &'static str, shape: Shape) -> Result<(), Error> {
    let rules = if kind == JSON_SCHEMA { "objects" } else { "rules" };
    limit(kind, "nesting depth", shape.depth as u64, DEPTH_MAX as u64)?;
    limit(kind, rules, shape.rules as u64, RULES_MAX as u64)?;
    limit(kind, "operators", shape.operators as u64, OPERATORS_MAX as u64)?;
    limit(kind, "repetitions", shape.repeat, REPEAT_MAX)
}

fn limit(kind: &'static str, what: &'static str, found: u64, limit: u64) -> Result<(), Error> {
    if found > limit {
        return Err(Error::GrammarLimit { kind, what, found, limit });
    }
    Ok(())
}

pub(super) fn invalid(kind: &'static str, reason: &str) -> Error {
    Error::GrammarInvalid { kind, reason: reason.to_owned() }
}

/// Repetitions and expressions among a schema's keywords. Plain data (`const`, `enum`, …) is not
/// looked into. The depth of `value` is within the limit already.
fn measure_schema(value: &Value, shape: &mut Shape) {
    let mut divisors = 1u64;
    measure_keywords(value, shape, &mut divisors);
    // A number that n divides is matched by an automaton of n states, and of the least common
    // multiple where several are asked for at once.
    shape.repeat = shape.repeat.max(divisors);
}

fn measure_keywords(value: &Value, shape: &mut Shape, divisors: &mut u64) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                measure_keyword(key, value, shape, divisors);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| measure_keywords(item, shape, divisors));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn measure_keyword(key: &str, value: &Value, shape: &mut Shape, divisors: &mut u64) {
    match key {
        "const" | "enum" | "default" | "examples" => return,
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
            // Integers may be written as 3.0 or 3e0.
            let number = value.as_u64().or(value.as_f64().map(|n| n as u64));
            shape.repeat = shape.repeat.max(number.unwrap_or(0));
            shape.operators += if key.ends_with("Length") { 1 } else { scan::COUNTED };
        }
        "multipleOf" => *divisors = common_multiple(*divisors, coefficient(value)),
        "pattern" | "whitespace_pattern" => {
            shape.merge(scan::regex(value.as_str().unwrap_or_default().as_bytes()));
        }
        "patternProperties" => {
            for pattern in value.as_object().into_iter().flat_map(|map| map.keys()) {
                shape.merge(scan::regex(pattern.as_bytes()));
            }
        }
        _ => {}
    }
    measure_keywords(value, shape, divisors);
}

/// The digits of a decimal number as an integer (0.25 gives 25), saturating; one for no number.
fn coefficient(value: &Value) -> u64 {
    let Value::Number(number) = value else { return 1 };
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let mut digits = 0u64;
    for byte in mantissa.bytes().filter(u8::is_ascii_digit) {
        digits = digits.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
    }
    let zeros = exponent.parse::<i32>().unwrap_or(i32::MAX).clamp(0, 20) as u32;
    digits.saturating_mul(10u64.saturating_pow(zeros)).max(1)
}

fn common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
