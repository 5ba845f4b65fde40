//! From the text of a value to the value, the same for every source.

use serde_json::Value as Json;

use super::{Flag, Kind};

/// The least number of a row that 0 is too small for.
pub const ABOVE_ZERO: f64 = f32::MIN_POSITIVE as f64;

/// A setting's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of a switch.
    Bool(bool),
    /// Of an integer row.
    Integer(i64),
    /// Of a number row.
    Number(f64),
    /// Of a text, path or choice row.
    Text(String),
    /// Of a list row.
    List(Vec<String>),
}

impl Value {
    /// As a line of the configuration file has it.
    pub fn written(&self) -> String {
        match self {
            Value::Bool(_) | Value::Integer(_) | Value::Number(_) => self.text(),
            Value::Text(value) => {
                let bare = |c: char| c.is_alphanumeric() || "_-./:~".contains(c);
                // A word that JSON has another meaning for is no bare word.
                let is_word = value.starts_with(char::is_alphabetic) && value != "null";
                let plain = is_word && value.chars().all(bare);
                if plain { value.clone() } else { Json::from(value.as_str()).to_string() }
            }
            Value::List(items) => Json::from(items.as_slice()).to_string(),
        }
    }

    /// As one would write it; items of a list are parted by commas.
    pub fn text(&self) -> String {
        match self {
            Value::Bool(value) => value.to_string(),
            Value::Integer(value) => value.to_string(),
            Value::Number(value) => value.to_string(),
            Value::Text(value) => value.clone(),
            Value::List(items) => items.join(", "),
        }
    }
}

/// The one rule for booleans, in any case.
pub fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "on" | "yes" | "1" => Some(true),
        "false" | "off" | "no" | "0" => Some(false),
        _ => None,
    }
}

impl Flag {
    /// Reads what one source says: one text, or for a list any number.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(&self, texts: &[String]) -> Result<Value, String> {
        let last = texts.last().map(String::as_str).unwrap_or_default();
        match self.kind {
            Kind::List(_) => Ok(Value::List(texts.to_vec())),
            Kind::Switch(_) => boolean(last)
                .map(Value::Bool)
                .ok_or_else(|| "expected true or false (on, off, yes, no, 1, 0)".into()),
            Kind::Integer(low, high) => match last.trim().parse() {
                Ok(value) if (low..=high).contains(&value) => Ok(Value::Integer(value)),
                Ok(_) | Err(_) => Err(format!("expected an integer {}", integers(low, high))),
            },
            Kind::Number(low, high) => match last.trim().parse::<f64>() {
                Ok(value) if (low..=high).contains(&value) => Ok(Value::Number(value)),
                Ok(_) | Err(_) => Err(format!("expected a number{}", numbers(low, high))),
            },
            Kind::Choice(words) => {
                let found = words.iter().find(|word| word.eq_ignore_ascii_case(last));
                let known = || format!("expected one of {}", words.join(", "));
                found.map(|word| Value::Text((*word).into())).ok_or_else(known)
            }
            Kind::Text(_) | Kind::Path(_) => Ok(Value::Text(last.into())),
        }
    }
}

/// A range of integers in words; an end that only the type's size gives is left out.
fn integers(low: i64, high: i64) -> String {
    if high >= i64::from(i32::MAX) {
        format!("of at least {low}")
    } else {
        format!("from {low} to {high}")
    }
}

/// A range of numbers in words; ends that only single precision gives are left out.
fn numbers(low: f64, high: f64) -> String {
    let (least, most) = (f64::from(f32::MIN), f64::from(f32::MAX));
    if high < most {
        format!(" from {low} to {high}")
    } else if low <= least {
        String::new()
    } else if low == ABOVE_ZERO {
        " above 0".into()
    } else {
        format!(" of at least {low}")
    }
}
