//! Methods of Python's strings, dicts and lists, which the engine does not know.

use std::ops::Range;

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind};

use super::builtins::{check_keys, pay_for_fields};
use super::held::pay;
use super::invalid;
use super::meter::Meter;
use crate::marked::{Marks, Text};
use crate::source;

/// Longest run of digits in a format string: wider fields could fill the memory.
const FORMAT_DIGITS_MAX: usize = 4;

/// What a byte of text may become as markup: `&amp;`.
const ESCAPED_BYTES: usize = 5;

/// How often a call copies its text: without marks, changed, with marks, as a value.
const COPIES: usize = 4;

/// Calls `value.method(arguments)`.
pub(super) fn call(
    meter: Meter,
    marks: Marks,
    value: &Value,
    method: &str,
    arguments: &[Value],
) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::String => {
            let marked = value.as_str().unwrap_or_default();
            let texts = arguments.iter().filter_map(Value::as_str).map(str::len);
            let bytes = texts.fold(marked.len(), usize::saturating_add);
            meter.charge(bytes.saturating_mul(COPIES))?;
            let string = Str { text: Text::parse(marked, marks), marks, meter };
            string.call(method, arguments)
        }
        ValueKind::Map => map(meter, value, method, arguments),
        ValueKind::Seq | ValueKind::Iterable => seq(meter, value, method, arguments),
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

struct Str<'a> {
    text: Text,
    marks: Marks,
    meter: Meter<'a>,
}

impl Str<'_> {
    fn call(&self, method: &str, arguments: &[Value]) -> Result<Value, Error> {
        let plain = self.text.plain.as_str();
        let test = |all: fn(char) -> bool| -> Result<Value, Error> {
            let () = from_args(arguments)?;
            Ok(Value::from(!plain.is_empty() && plain.chars().all(all)))
        };
        let cased = |wanted: fn(char) -> bool, unwanted: fn(char) -> bool| {
            Ok(Value::from(plain.chars().any(wanted) && !plain.chars().any(unwanted)))
        };
        match method {
            "strip" => self.strip(arguments, true, true),
            "lstrip" => self.strip(arguments, true, false),
            "rstrip" => self.strip(arguments, false, true),
            "split" => self.split(arguments, false),
            "rsplit" => self.split(arguments, true),
            "splitlines" => self.splitlines(arguments),
            "partition" => self.partition(arguments, |text, part| text.find(part)),
            "rpartition" => self.partition(arguments, |text, part| text.rfind(part)),
            "startswith" => self.affix(arguments, |text, affix| text.starts_with(affix)),
            "endswith" => self.affix(arguments, |text, affix| text.ends_with(affix)),
            "removeprefix" | "removesuffix" => self.remove(arguments, method == "removeprefix"),
            "find" | "index" => {
                self.find(arguments, |text, part| text.find(part), method == "index")
            }
            "rfind" | "rindex" => {
                self.find(arguments, |text, part| text.rfind(part), method == "rindex")
            }
            "count" => {
                let (needle,): (&str,) = from_args(arguments)?;
                let needle = self.plain(needle);
                Ok(Value::from(plain.matches(needle.as_str()).count()))
            }
            "replace" => self.replace(arguments),
            "join" => self.join(arguments),
            "format" => self.format(arguments),
            "upper" => Ok(self.value(&self.text.map(str::to_uppercase))),
            "lower" => Ok(self.value(&self.text.map(str::to_lowercase))),
            "title" => Ok(self.value(&self.case_each(|previous| !previous.is_alphabetic()))),
            "capitalize" => Ok(self.value(&self.case_each(|previous| previous == '\0'))),
            source::ESCAPE => {
                self.meter.charge(plain.len().saturating_mul(ESCAPED_BYTES))?;
                Ok(self.value(&self.text.map(escape)))
            }
            "isdigit" | "isnumeric" | "isdecimal" => test(char::is_numeric),
            "isalpha" => test(char::is_alphabetic),
            "isalnum" => test(char::is_alphanumeric),
            "isspace" => test(is_space),
            "isascii" => Ok(Value::from(plain.is_ascii())),
            "islower" => cased(char::is_lowercase, char::is_uppercase),
            "isupper" => cased(char::is_uppercase, char::is_lowercase),
            _ => Err(ErrorKind::UnknownMethod.into()),
        }
    }

    fn value(&self, text: &Text) -> Value {
        Value::from(text.to_marked(self.marks))
    }

    fn slice(&self, range: Range<usize>) -> Value {
        self.value(&self.text.slice(range))
    }

    fn plain(&self, text: &str) -> String {
        Text::parse(text, self.marks).plain
    }

    fn strip(&self, arguments: &[Value], left: bool, right: bool) -> Result<Value, Error> {
        let (set,): (Option<&str>,) = from_args(arguments)?;
        let set: Option<Vec<char>> = set.map(|set| self.plain(set).chars().collect());
        let strip = |c: char| set.as_ref().map_or_else(|| is_space(c), |set| set.contains(&c));
        let plain = self.text.plain.as_str();
        let start = if left { plain.len() - plain.trim_start_matches(strip).len() } else { 0 };
        let kept = &plain[start..];
        let end = if right { start + kept.trim_end_matches(strip).len() } else { plain.len() };
        Ok(self.slice(start..end))
    }

    fn split(&self, arguments: &[Value], from_right: bool) -> Result<Value, Error> {
        let (separator, most): (Option<&str>, Option<i64>) = from_args(arguments)?;
        let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let separator = separator.map(|separator| self.plain(separator));
        if separator.as_deref() == Some("") {
            return Err(invalid("empty separator"));
        }
        let plain = self.text.plain.as_str();
        // No more are counted than there is fuel for.
        let counted = most.min(self.meter.fuel());
        let parts = match &separator {
            Some(separator) => plain.matches(separator.as_str()).take(counted).count(),
            None => plain.split(is_space).take(counted).count(),
        };
        // A part costs about as much as a list entry of the engine.
        self.meter.charge(parts.saturating_add(1).saturating_mul(64))?;
        let ranges = match &separator {
            Some(separator) => self.split_at(separator, most, from_right),
            None if from_right && most < usize::MAX => {
                return Err(invalid("rsplit by white space with a limit is not supported"));
            }
            None => self.split_words(most),
        };
        Ok(ranges.into_iter().map(|range| self.slice(range)).collect())
    }

    fn split_at(&self, separator: &str, most: usize, from_right: bool) -> Vec<Range<usize>> {
        let plain = self.text.plain.as_str();
        let mut at: Vec<usize> = if from_right {
            plain.rmatch_indices(separator).take(most).map(|(at, _)| at).collect()
        } else {
            plain.match_indices(separator).take(most).map(|(at, _)| at).collect()
        };
        at.sort_unstable();
        let mut start = 0;
        let mut ranges = Vec::with_capacity(at.len() + 1);
        for end in at {
            ranges.push(start..end);
            start = end + separator.len();
        }
        ranges.push(start..plain.len());
        ranges
    }

    fn split_words(&self, most: usize) -> Vec<Range<usize>> {
        let plain = self.text.plain.as_str();
        let mut ranges = Vec::new();
        let mut at = plain.len() - plain.trim_start_matches(is_space).len();
        while at < plain.len() {
            let rest = &plain[at..];
            let last = ranges.len() == most;
            let length = if last { None } else { rest.find(is_space) };
            let end = at + length.unwrap_or(rest.len());
            ranges.push(at..end);
            let rest = &plain[end..];
            at = end + rest.len() - rest.trim_start_matches(is_space).len();
        }
        ranges
    }

    fn splitlines(&self, arguments: &[Value]) -> Result<Value, Error> {
        let (keep_ends,): (Option<bool>,) = from_args(arguments)?;
        let breaks = self.text.plain.bytes().filter(|byte| *byte == b'\n').count();
        self.meter.charge(breaks.saturating_mul(64))?;
        let mut start = 0;
        let mut lines = Vec::new();
        for line in self.text.plain.split_inclusive('\n') {
            let end = start + line.len();
            let body = line.strip_suffix('\n').map_or(line, |l| l.strip_suffix('\r').unwrap_or(l));
            let shown = if keep_ends == Some(true) { end } else { start + body.len() };
            lines.push(start..shown);
            start = end;
        }
        Ok(lines.into_iter().map(|range| self.slice(range)).collect())
    }

    fn partition(
        &self,
        arguments: &[Value],
        search: fn(&str, &str) -> Option<usize>,
    ) -> Result<Value, Error> {
        let (separator,): (&str,) = from_args(arguments)?;
        let (separator, plain) = (self.plain(separator), self.text.plain.as_str());
        let length = plain.len();
        let (at, next) = match search(plain, &separator) {
            Some(at) => (at, at + separator.len()),
            None => (length, length),
        };
        let parts = [self.slice(0..at), self.slice(at..next), self.slice(next..length)];
        Ok(Value::from(Tuple::from(parts)))
    }

    fn affix(&self, arguments: &[Value], test: fn(&str, &str) -> bool) -> Result<Value, Error> {
        let (affix,): (&Value,) = from_args(arguments)?;
        let one = |affix: &Value| match affix.as_str() {
            Some(affix) => Ok(test(&self.text.plain, &self.plain(affix))),
            None => Err(invalid(format!("expected a string, found {}", affix.kind()))),
        };
        if !matches!(affix.kind(), ValueKind::Seq | ValueKind::Iterable) {
            return one(affix).map(Value::from);
        }
        for affix in affix.try_iter()? {
            self.meter.charge(64 + affix.as_str().map_or(0, str::len))?;
            if one(&affix)? {
                return Ok(Value::from(true));
            }
        }
        Ok(Value::from(false))
    }

    fn remove(&self, arguments: &[Value], prefix: bool) -> Result<Value, Error> {
        let (affix,): (&str,) = from_args(arguments)?;
        let (affix, plain) = (self.plain(affix), self.text.plain.as_str());
        let kept = if prefix {
            plain.strip_prefix(affix.as_str()).map(|kept| plain.len() - kept.len()..plain.len())
        } else {
            plain.strip_suffix(affix.as_str()).map(|kept| 0..kept.len())
        };
        Ok(self.slice(kept.unwrap_or(0..plain.len())))
    }

    /// Position in characters; -1, or an error where `must` is set, if it is not there.
    fn find(
        &self,
        arguments: &[Value],
        search: fn(&str, &str) -> Option<usize>,
        must: bool,
    ) -> Result<Value, Error> {
        let (needle,): (&str,) = from_args(arguments)?;
        let plain = self.text.plain.as_str();
        match search(plain, &self.plain(needle)) {
            Some(at) => Ok(Value::from(plain[..at].chars().count())),
            None if must => Err(invalid("substring not found")),
            None => Ok(Value::from(-1)),
        }
    }

    fn replace(&self, arguments: &[Value]) -> Result<Value, Error> {
        let (old, new, most): (&str, &str, Option<i64>) = from_args(arguments)?;
        let (old, new) = (self.plain(old), Text::parse(new, self.marks));
        let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let matches = || self.text.plain.match_indices(old.as_str()).take(most);
        self.meter.charge(matches().count().saturating_mul(new.plain.len() + 64))?;
        let mut out = Text::default();
        let mut start = 0;
        for (at, _) in matches() {
            out.append(&self.text.slice(start..at));
            out.append(&new);
            start = at + old.len();
        }
        out.append(&self.text.slice(start..self.text.plain.len()));
        Ok(self.value(&out))
    }

    fn join(&self, arguments: &[Value]) -> Result<Value, Error> {
        let (items,): (&Value,) = from_args(arguments)?;
        let separator = self.text.to_marked(self.marks);
        let mut out = String::new();
        for (at, item) in items.try_iter()?.enumerate() {
            self.meter.charge(separator.len() + 64)?;
            if at > 0 {
                out.push_str(&separator);
            }
            let Some(item) = item.as_str() else {
                return Err(invalid(format!("expected strings to join, found {}", item.kind())));
            };
            self.meter.charge(item.len())?;
            out.push_str(item);
        }
        Ok(Value::from(out))
    }

    fn format(&self, arguments: &[Value]) -> Result<Value, Error> {
        let (mut digits, mut width, mut widths) = (0, 0_usize, 0_usize);
        for byte in self.text.plain.bytes() {
            if byte.is_ascii_digit() {
                (digits, width) = (digits + 1, 10 * width + usize::from(byte - b'0'));
            } else {
                (digits, width, widths) = (0, 0, widths + width);
            }
            if digits > FORMAT_DIGITS_MAX {
                return Err(invalid("a format field is too wide"));
            }
        }
        self.meter.charge(widths)?;
        check_keys(&self.text.to_marked(self.marks))?;
        pay_for_fields(self.meter, self.text.plain.matches('{').count(), arguments)?;
        format(FormatStyle::StrFormat, &self.text.to_marked(self.marks), arguments).map(Value::from)
    }

    /// Upper case where `starts` holds of the character before (`\0` at the beginning), else lower.
    fn case_each(&self, starts: fn(char) -> bool) -> Text {
        let mut plain = String::with_capacity(self.text.plain.len());
        let mut user = self.text.user.clone();
        let (mut range, mut previous) = (0, '\0');
        for (at, c) in self.text.plain.char_indices() {
            let old = self.text.user.get(range);
            if old.is_some_and(|old| old.start == at) {
                user[range].start = plain.len();
            }
            if starts(previous) {
                plain.extend(c.to_uppercase());
            } else {
                plain.extend(c.to_lowercase());
            }
            if old.is_some_and(|old| old.end == at + c.len_utf8()) {
                user[range].end = plain.len();
                range += 1;
            }
            previous = c;
        }
        Text { plain, user, torn: self.text.torn }
    }
}

/// The five characters that MarkupSafe escapes, as it escapes them.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Python's `str.isspace`: Unicode white space and the four information separators.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn map(meter: Meter, value: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let keys = || {
        meter.charge(value.len().unwrap_or(0).saturating_mul(64))?;
        value.try_iter()
    };
    match method {
        "get" => {
            let (key, default): (&Value, Option<Value>) = from_args(arguments)?;
            pay(meter, key)?;
            let found = value.get_item(key)?;
            Ok(if found.is_undefined() { default.unwrap_or(Value::from(())) } else { found })
        }
        "keys" => Ok(keys()?.collect()),
        "values" => keys()?.map(|key| value.get_item(&key)).collect(),
        "items" => keys()?
            .map(|key| Ok(Value::from(Tuple::from([key.clone(), value.get_item(&key)?]))))
            .collect(),
        _ => Err(ErrorKind::UnknownMethod.into()),
    }
}

fn seq(meter: Meter, value: &Value, method: &str, arguments: &[Value]) -> Result<Value, Error> {
    let (wanted,): (&Value,) = match method {
        "count" | "index" => from_args(arguments)?,
        _ => return Err(ErrorKind::UnknownMethod.into()),
    };
    pay(meter, value)?;
    let mut items = value.try_iter()?;
    if method == "count" {
        return Ok(Value::from(items.filter(|item| item == wanted).count()));
    }
    let at = items.position(|item| item == *wanted);
    at.map(Value::from).ok_or_else(|| invalid("the value is not in the list"))
}
