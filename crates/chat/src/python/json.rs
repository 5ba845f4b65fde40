//! `tojson` as `transformers` defines it: Python's `json.dumps` without escapes for HTML.

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, ErrorKind};

use super::meter::Meter;
use super::{invalid, repr};
use crate::marked::{Marks, Text};

/// Widest indentation, in characters.
const INDENT_MAX: i64 = 64;

/// What a byte of text may become: `\u0001`.
const ESCAPED_BYTES: usize = 6;

struct Style<'m> {
    meter: Meter<'m>,
    /// One level's indentation; `None` writes everything on one line.
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
    ascii: bool,
    sort_keys: bool,
    marks: Marks,
}

/// `tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False)`. A first
/// positional argument is `ensure_ascii` if it is a boolean, else the indentation (Jinja2's own).
pub(super) fn tojson(
    meter: Meter,
    value: &Value,
    first: Option<&Value>,
    kwargs: &Kwargs,
    marks: Marks,
) -> Result<String, Error> {
    let named_indent: Option<Value> = kwargs.get("indent")?;
    let ascii: Option<bool> = kwargs.get("ensure_ascii")?;
    let separators: Option<Vec<String>> = kwargs.get("separators")?;
    let sort_keys: Option<bool> = kwargs.get("sort_keys")?;
    kwargs.assert_all_used()?;
    let first_is_ascii = first.is_some_and(|value| value.kind() == ValueKind::Bool);
    let indent = named_indent.as_ref().or(first.filter(|_| !first_is_ascii));
    let indent = indent.map(indentation).transpose()?.flatten();
    let [item_separator, key_separator] = match separators.as_deref() {
        Some([item, key]) => [item.clone(), key.clone()],
        Some(_) => return Err(invalid("tojson: separators must be two strings")),
        None if indent.is_some() => [",".to_owned(), ": ".to_owned()],
        None => [", ".to_owned(), ": ".to_owned()],
    };
    let style = Style {
        meter,
        indent,
        item_separator,
        key_separator,
        ascii: ascii.unwrap_or(first_is_ascii && first.is_some_and(Value::is_true)),
        sort_keys: sort_keys.unwrap_or(false),
        marks,
    };
    let mut out = String::new();
    style.write(value, 0, &mut out)?;
    Ok(out)
}

fn indentation(value: &Value) -> Result<Option<String>, Error> {
    if value.is_none() || value.is_undefined() {
        return Ok(None);
    }
    if let Some(text) = value.as_str().filter(|text| text.len() <= INDENT_MAX as usize) {
        return Ok(Some(text.to_owned()));
    }
    match value.as_i64() {
        Some(width) if width <= INDENT_MAX => Ok(Some(" ".repeat(width.max(0) as usize))),
        _ => Err(invalid(format!("tojson: indent must be at most {INDENT_MAX}"))),
    }
}

impl Style<'_> {
    fn write(&self, value: &Value, level: usize, out: &mut String) -> Result<(), Error> {
        if level >= repr::DEPTH_MAX {
            return Err(repr::too_deep());
        }
        // All items at once, before they are collected.
        let is_text = value.kind() == ValueKind::String;
        let items = if is_text { 0 } else { value.len().unwrap_or(0) };
        self.meter.charge(items.saturating_mul(64))?;
        match value.kind() {
            ValueKind::None => out.push_str("null"),
            ValueKind::Bool => out.push_str(if value.is_true() { "true" } else { "false" }),
            ValueKind::Number => out.push_str(&number(value)),
            ValueKind::String => self.string(value.as_str().unwrap_or_default(), out)?,
            ValueKind::Seq | ValueKind::Iterable => {
                let items: Vec<Value> = value.try_iter()?.collect();
                self.block('[', ']', &items, level, out, |item, out| {
                    self.write(item, level + 1, out)
                })?;
            }
            ValueKind::Map => {
                let mut keys: Vec<Value> = value.try_iter()?.collect();
                if self.sort_keys {
                    keys.sort_by_cached_key(|key| Text::parse(&key.to_string(), self.marks).plain);
                }
                self.block('{', '}', &keys, level, out, |key, out| {
                    match key.kind() {
                        ValueKind::String => {
                            self.string(key.as_str().unwrap_or_default(), out)?;
                        }
                        ValueKind::None => out.push_str("\"null\""),
                        ValueKind::Bool => out.push_str(&format!("\"{}\"", key.is_true())),
                        ValueKind::Number => out.push_str(&format!("\"{}\"", number(key))),
                        other => return Err(invalid(format!("a JSON key cannot be {other}"))),
                    }
                    out.push_str(&self.key_separator);
                    self.write(&value.get_item(key)?, level + 1, out)
                })?;
            }
            other => {
                let message = format!("a value of type {other} is not JSON serializable");
                return Err(Error::new(ErrorKind::BadSerialization, message));
            }
        }
        Ok(())
    }

    /// Brackets, separators and lines around `items`.
    fn block(
        &self,
        open: char,
        close: char,
        items: &[Value],
        level: usize,
        out: &mut String,
        write: impl Fn(&Value, &mut String) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let indentation = self.indent.as_ref().map_or(0, |indent| indent.len() * (level + 1));
        let between = self.item_separator.len() + self.key_separator.len() + indentation;
        self.meter.charge((items.len() + 1).saturating_mul(between))?;
        out.push(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push_str(&self.item_separator);
            }
            self.line(level + 1, out);
            write(item, out)?;
        }
        if !items.is_empty() {
            self.line(level, out);
        }
        out.push(close);
        Ok(())
    }

    fn line(&self, level: usize, out: &mut String) {
        if let Some(indent) = &self.indent {
            out.push('\n');
            for _ in 0..level {
                out.push_str(indent);
            }
        }
    }

    fn string(&self, text: &str, out: &mut String) -> Result<(), Error> {
        self.meter.charge(text.len().saturating_mul(ESCAPED_BYTES))?;
        out.push('"');
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
                c if self.ascii && c > '~' && !self.marks.contain(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                c => out.push(c),
            }
        }
        out.push('"');
        Ok(())
    }
}

fn number(value: &Value) -> String {
    match repr::number(value).as_str() {
        "nan" => "NaN".into(),
        "inf" => "Infinity".into(),
        "-inf" => "-Infinity".into(),
        text => text.into(),
    }
}
