//! The configuration file: lines of `key = value`, a part of TOML.
//!
//! A key is a long name of a flag, and is there once. A value is a number, true or false, a text in
//! double quotes, or a list of texts in brackets; a bare word is taken as text. `#` begins a
//! comment at the start of a line and, after a space, behind a value.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Flag, nearest, table};

/// Size above which a file is no configuration.
const BYTES_MAX: u64 = 1 << 20;

/// What a file says of one row.
#[derive(Debug)]
pub struct Line {
    /// The row.
    pub flag: &'static Flag,
    /// Its values.
    pub values: Vec<String>,
    /// Where.
    pub number: usize,
}

/// A line that is not understood.
#[derive(Debug, PartialEq)]
pub struct Fault {
    /// Where.
    pub number: usize,
    /// What was expected, and what was found.
    pub text: String,
}

/// A file that was read.
#[derive(Debug, Default)]
pub struct Contents {
    /// The lines that say something of a row.
    pub lines: Vec<Line>,
    /// The others.
    pub faults: Vec<Fault>,
}

impl Contents {
    /// The line of a row.
    fn line_of(&self, flag: &'static Flag) -> Option<&Line> {
        self.lines.iter().find(|line| std::ptr::eq(line.flag, flag))
    }
}

/// Reads a file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<Contents, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?.len();
    if size > BYTES_MAX {
        return Err(format!("expected at most {BYTES_MAX} bytes, found {size}"));
    }
    Ok(parse(&std::fs::read_to_string(path).map_err(|error| error.to_string())?))
}

/// Reads the text of a file.
pub fn parse(text: &str) -> Contents {
    let mut contents = Contents::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match setting(line) {
            Ok((flag, values)) => match contents.line_of(flag) {
                None => contents.lines.push(Line { flag, values, number }),
                Some(first) => {
                    let text = format!(
                        "`{}` is there twice, first in line {}: leave one of them",
                        flag.name, first.number
                    );
                    contents.faults.push(Fault { number, text });
                }
            },
            Err(text) => contents.faults.push(Fault { number, text }),
        }
    }
    contents
}

/// The row of a line, and its values.
fn setting(line: &str) -> Result<(&'static Flag, Vec<String>), String> {
    let Some((key, value)) = line.split_once('=') else {
        return Err(format!(
            "expected `key = value`, found `{line}`: a configuration file is lines of `key = \
             value` and of `# comments`, a part of TOML without sections"
        ));
    };
    let key = key.trim().replace('_', "-");
    let Some(flag) = table::rows().find(|flag| flag.is_called(&key)) else {
        let meant = match (nearest::opposite(&key), nearest::key(&key)) {
            (Some(flag), _) => format!("write `{} = false`;", flag.name),
            (None, Some(name)) => format!("did you mean `{name}`?"),
            (None, None) => "a key is the long name of a flag;".to_owned(),
        };
        return Err(format!("unknown key `{key}`: {meant} `minfer config` shows every key"));
    };
    Ok((flag, values(value.trim())?))
}

/// The texts of a value.
fn values(text: &str) -> Result<Vec<String>, String> {
    let plain = |value: Value| match value {
        Value::String(text) => Ok(text),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(format!("expected a text, a number, true or false, found `{value}`"))
        }
    };
    let mut json = serde_json::Deserializer::from_str(text).into_iter();
    let first = json.next();
    let rest = text.get(json.byte_offset()..).unwrap_or_default().trim_start();
    match first {
        Some(Ok(value)) if rest.is_empty() || rest.starts_with('#') => match value {
            Value::Array(items) => items.into_iter().map(plain).collect(),
            value => Ok(vec![plain(value)?]),
        },
        _ if text.starts_with(['"', '[', '{']) => {
            Err(format!("`{text}` is not a whole text or list on one line"))
        }
        _ => {
            // A comment may be all there is.
            let comment = text.char_indices().find(|(at, c)| {
                *c == '#' && text[..*at].chars().next_back().is_none_or(char::is_whitespace)
            });
            let bare = text[..comment.map_or(text.len(), |(at, _)| at)].trim_end();
            let none = "expected a value, found none (\"\" is the empty text)";
            if bare.is_empty() { Err(none.into()) } else { Ok(vec![bare.to_owned()]) }
        }
    }
}

/// Where the file is when no flag says so: under `XDG_CONFIG_HOME`, else under `~/.config`.
pub fn default_path() -> Option<PathBuf> {
    let base = match std::env::var_os("XDG_CONFIG_HOME").filter(|value| !value.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".config"),
    };
    Some(base.join("minfer/config.toml"))
}
