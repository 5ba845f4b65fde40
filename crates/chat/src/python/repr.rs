//! `str()` and `repr()` of values, as `{{ value }}` prints them.

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

use super::group::Group;
use super::meter::Meter;

/// What a byte of text may become: `\x01`.
const ESCAPED_BYTES: usize = 4;

/// Deepest nesting of lists and objects written out.
pub(super) const DEPTH_MAX: usize = 100;

/// `str(value)`; nothing for an undefined value. Each item costs fuel: a list times a number is a
/// hundred million items that nothing has paid for yet.
pub(super) fn display(meter: Meter, value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Undefined => Ok(String::new()),
        ValueKind::Seq | ValueKind::Iterable | ValueKind::Map | ValueKind::Number => {
            let mut out = String::new();
            repr(meter, value, &mut out, DEPTH_MAX)?;
            Ok(out)
        }
        _ => Ok(value.to_string()),
    }
}

fn repr(meter: Meter, value: &Value, out: &mut String, depth: usize) -> Result<(), Error> {
    let Some(deeper) = depth.checked_sub(1) else { return Err(too_deep()) };
    let text = value.as_str().map_or(0, str::len);
    meter.charge(text.saturating_mul(ESCAPED_BYTES).saturating_add(64))?;
    match value.kind() {
        ValueKind::String => quote(value.as_str().unwrap_or_default(), out),
        ValueKind::Undefined => out.push_str("Undefined"),
        ValueKind::Number => out.push_str(&number(value)),
        ValueKind::Seq | ValueKind::Iterable => {
            let is_tuple = value.is_tuple() || Group::is(value);
            let (open, close) = if is_tuple { ('(', ')') } else { ('[', ']') };
            out.push(open);
            let mut count = 0;
            for item in value.try_iter()? {
                if count > 0 {
                    out.push_str(", ");
                }
                repr(meter, &item, out, deeper)?;
                count += 1;
            }
            if is_tuple && count == 1 {
                out.push(',');
            }
            out.push(close);
        }
        ValueKind::Map => {
            out.push('{');
            for (at, key) in value.try_iter()?.enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                repr(meter, &key, out, deeper)?;
                out.push_str(": ");
                repr(meter, &value.get_item(&key)?, out, deeper)?;
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
    Ok(())
}

pub(super) fn too_deep() -> Error {
    Error::new(ErrorKind::InvalidOperation, "recursion limit exceeded")
}

/// A Python string literal: single quotes unless only double ones avoid escapes.
fn quote(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if (c as u32) < 0x20 || c == '\u{7f}' => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// A number as Python prints it. Floats are the shortest digits that read back, with an exponent
/// below 1e-4 and from 1e16 on.
pub(super) fn number(value: &Value) -> String {
    if value.is_integer() {
        return value.to_string();
    }
    let Ok(float) = f64::try_from(value.clone()) else { return value.to_string() };
    if !float.is_finite() {
        return if float.is_nan() {
            "nan"
        } else if float > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .into();
    }
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let power: i32 = exponent.parse().unwrap_or(0);
    if float != 0.0 && !(-4..16).contains(&power) {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.unsigned_abs());
    }
    let mut text = format!("{float}");
    if !text.contains('.') {
        text.push_str(".0");
    }
    text
}
