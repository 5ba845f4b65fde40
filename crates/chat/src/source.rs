//! Template source to what the engine reads: two things of Jinja2 as Hugging Face sets it up that
//! the engine lacks.
//!
//! - `{% generation %}` blocks mark what an assistant wrote, for training. They become plain
//!   scopes, so that their whitespace control (`{%-`, `-%}`) works on.
//! - `a|safe + b` makes markup, which escapes `b` for HTML even where nothing else is escaped. The
//!   escape is written out; other uses of `safe` change nothing.
//!
//! Everything else is passed on as it is. [`bounded`] comes after: it writes in what the engine
//! leaves unbounded.

mod expression;
mod guard;
mod lexer;

use std::collections::HashSet;

pub(crate) use guard::{HOLD, OWN, PAY, PAY_TEXT, bounded};

/// The filter that escapes as MarkupSafe does; no template has a name like it.
pub(crate) const ESCAPE: &str = "__escape_for_markup";

/// The source with both rewritten.
pub(crate) fn for_engine(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest
        .match_indices('{')
        .map(|(at, _)| at)
        .find(|&at| rest[at + 1..].starts_with(['%', '#', '{']))
    {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (close, rewrite): (_, fn(&str) -> Option<String>) = match rest.as_bytes().get(1) {
            Some(b'#') => ("#}", |_| None),
            Some(b'%') => ("%}", scope),
            _ => ("}}", markup),
        };
        let end = rest.find(close).map_or(rest.len(), |end| end + close.len());
        let tag = &rest[..end];
        match rewrite(tag) {
            Some(new) => out.push_str(&new),
            None => out.push_str(tag),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A print tag whose sum has a safe operand, with the other operands escaped; `None` for any other,
/// and for sums that are a part of something else.
fn markup(tag: &str) -> Option<String> {
    let inner = tag.strip_prefix("{{")?.strip_suffix("}}")?;
    let expression = inner.trim_start_matches(['-', '+']).trim_end_matches(['-', '+']);
    let is_safe = |operand: &str| {
        let before = operand.trim_end().strip_suffix("safe").map(str::trim_end);
        before.is_some_and(|before| before.ends_with('|'))
    };
    let operands = operands(expression)?;
    if operands.len() < 2 || !operands.iter().any(|operand| is_safe(operand)) {
        return None;
    }
    let sum: Vec<String> = operands
        .into_iter()
        .map(
            |operand| {
                if is_safe(operand) { operand.into() } else { format!("({operand})|{ESCAPE}") }
            },
        )
        .collect();
    Some(tag.replacen(expression, &sum.join("+"), 1))
}

/// What stands between the `+` of a sum; `None` if it has operators that bind less tightly.
fn operands(expression: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let (mut start, mut depth, mut quote) = (0, 0_usize, None);
    let mut chars = expression.char_indices();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(open), c) => quote = (c != open).then_some(open),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, '+') if depth == 0 => {
                found.push(&expression[start..at]);
                start = at + 1;
            }
            (None, '~' | '-' | '<' | '>' | '=' | '!') if depth == 0 => return None,
            (None, ' ') if depth == 0 => {
                let word = expression[at + 1..].split(' ').next();
                let looser = ["if", "else", "and", "or", "not", "in", "is"];
                if word.is_some_and(|word| looser.contains(&word)) {
                    return None;
                }
            }
            (None, _) => {}
        }
    }
    found.push(&expression[start..]);
    Some(found)
}

/// The tag to write for a generation tag; `None` for any other.
fn scope(tag: &str) -> Option<String> {
    let inner = tag.strip_prefix("{%")?.strip_suffix("%}")?;
    let word = inner.trim_start_matches(['-', '+']).trim_end_matches(['-', '+']).trim();
    let new = match word {
        "generation" => "with _=none",
        "endgeneration" => "endwith",
        _ => return None,
    };
    let open = &inner[..inner.len() - inner.trim_start_matches(['-', '+']).len()];
    let close = &inner[inner.trim_end_matches(['-', '+']).len()..];
    Some(format!("{{%{open} {new} {close}%}}"))
}

/// Words and quoted strings of the source: what the template may compare a value with.
pub(crate) fn constants(source: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    for text in source.split(|c| !word(c)) {
        found.insert(text.to_owned());
    }
    for quote in ['"', '\''] {
        // Any stretch between two quotes: an apostrophe in the text may shift which are strings.
        for text in source.split(quote).filter(|text| text.len() <= 64) {
            found.insert(text.to_owned());
        }
    }
    found.remove("");
    found
}

#[cfg(test)]
mod tests;
