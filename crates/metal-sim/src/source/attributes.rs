//! Metal's `[[attributes]]`: taken out of the token stream, since a C++ compiler refuses them where
//! Metal wants them, and remembered by where they stood.

use super::lexer::{Kind, Token};
use super::{Fault, Faults};

/// One attribute.
#[derive(Clone, Debug)]
pub(crate) struct Attribute<'a> {
    pub name: &'a str,
    /// What stands in its parentheses.
    pub arguments: Vec<Token<'a>>,
    /// Index of the token that follows it, in the stream without attributes.
    pub before: usize,
    /// Its first token.
    pub token: Token<'a>,
}

/// Attributes of parameters that give a built-in value, and the abi's name of each.
pub(crate) const BUILTINS: [(&str, &str); 13] = [
    ("thread_position_in_grid", "MSIM_B_THREAD_POSITION_IN_GRID"),
    ("thread_position_in_threadgroup", "MSIM_B_THREAD_POSITION_IN_THREADGROUP"),
    ("threadgroup_position_in_grid", "MSIM_B_THREADGROUP_POSITION_IN_GRID"),
    ("threads_per_threadgroup", "MSIM_B_THREADS_PER_THREADGROUP"),
    ("dispatch_threads_per_threadgroup", "MSIM_B_DISPATCH_THREADS_PER_THREADGROUP"),
    ("threadgroups_per_grid", "MSIM_B_THREADGROUPS_PER_GRID"),
    ("threads_per_grid", "MSIM_B_THREADS_PER_GRID"),
    ("thread_index_in_threadgroup", "MSIM_B_THREAD_INDEX_IN_THREADGROUP"),
    ("thread_index_in_simdgroup", "MSIM_B_THREAD_INDEX_IN_SIMDGROUP"),
    ("simdgroup_index_in_threadgroup", "MSIM_B_SIMDGROUP_INDEX_IN_THREADGROUP"),
    ("simdgroups_per_threadgroup", "MSIM_B_SIMDGROUPS_PER_THREADGROUP"),
    ("threads_per_simdgroup", "MSIM_B_THREADS_PER_SIMDGROUP"),
    ("grid_origin", "MSIM_B_GRID_ORIGIN"),
];

/// Other attributes that a compute kernel may have.
const OTHERS: [&str; 10] = [
    "kernel",
    "buffer",
    "threadgroup",
    "function_constant",
    "host_name",
    "id",
    "max_total_threads_per_threadgroup",
    "required_threads_per_threadgroup",
    "unroll",
    "visible",
];

/// Attributes of the parts of Metal that are not simulated.
const ELSEWHERE: [&str; 12] = [
    "texture",
    "sampler",
    "stage_in",
    "position",
    "vertex",
    "fragment",
    "vertex_id",
    "instance_id",
    "color",
    "imageblock_data",
    "payload",
    "mesh",
];

/// Attributes of C++ itself, which stay in the text.
const STANDARD: [&str; 8] = [
    "clang",
    "deprecated",
    "fallthrough",
    "gnu",
    "likely",
    "maybe_unused",
    "nodiscard",
    "noreturn",
];

/// Separates Metal's attributes from the other tokens.
pub(crate) fn separate<'a>(
    tokens: &[Token<'a>],
    faults: &mut Faults<'_>,
) -> (Vec<Token<'a>>, Vec<Attribute<'a>>) {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut attributes = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let opens = tokens[at].text == "["
            && tokens.get(at + 1).is_some_and(|next| next.text == "[" && !next.spaced);
        let close = if opens { close_of(&tokens[at..]) } else { None };
        let Some(close) = close else {
            kept.push(tokens[at]);
            at += 1;
            continue;
        };
        let inside = &tokens[at + 2..at + close - 1];
        if inside.first().is_some_and(|first| STANDARD.contains(&first.text)) {
            kept.extend_from_slice(&tokens[at..=at + close]);
        } else {
            for part in split(inside, ",") {
                attributes.extend(attribute(part, kept.len(), faults));
            }
        }
        at += close + 1;
    }
    (kept, attributes)
}

/// Offset of the second `]` that closes the `[[` at the start.
fn close_of(tokens: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "[" => depth += 1,
            "]" => depth -= 1,
            ";" | "{" => return None,
            _ => continue,
        }
        if depth == 0 {
            return (tokens[at - 1].text == "]").then_some(at);
        }
    }
    None
}

fn attribute<'a>(
    part: &[Token<'a>],
    before: usize,
    faults: &mut Faults<'_>,
) -> Option<Attribute<'a>> {
    let token = *part.first()?;
    let name = token.text;
    if ELSEWHERE.contains(&name) {
        faults.add(&token, Fault::Unsupported { what: format!("the attribute [[{name}]]") });
    } else if token.kind != Kind::Word || !is_known(name) {
        let near = known().min_by_key(|known| distance(known, name));
        let near = near.filter(|near| distance(near, name) <= 3).map(str::to_owned);
        faults.add(&token, Fault::UnknownAttribute { name: name.to_owned(), near });
    }
    let arguments = match part {
        [_, open, inside @ .., close] if open.text == "(" && close.text == ")" => inside.to_vec(),
        _ => Vec::new(),
    };
    Some(Attribute { name, arguments, before, token })
}

fn known() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|(name, _)| *name).chain(OTHERS)
}

fn is_known(name: &str) -> bool {
    known().any(|known| known == name)
}

/// Letters to insert, delete or change to turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b = b.as_bytes();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Splits tokens at a separator that stands in no brackets; angle brackets count.
pub(crate) fn split<'t, 'a>(tokens: &'t [Token<'a>], separator: &str) -> Vec<&'t [Token<'a>]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" | "]" | "}" | ">" => depth -= 1,
            text if text == separator && depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// The string that the tokens spell: adjacent literals are one.
pub(crate) fn string(tokens: &[Token<'_>]) -> Option<String> {
    let literals = tokens.iter().map(|token| match token.kind {
        Kind::Text => token.text.strip_prefix('"')?.strip_suffix('"'),
        _ => None,
    });
    let parts: Vec<&str> = literals.collect::<Option<_>>()?;
    (!parts.is_empty()).then(|| parts.concat())
}
