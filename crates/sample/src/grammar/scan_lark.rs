//! Measures a Lark grammar before any parser sees it, as [`super::scan`] does expressions.
//!
//! A terminal is one expression to the compiler, whatever terminals it is made of, and its cost
//! grows with the square of its size; so sizes are those of terminals written out in full.

use std::collections::HashMap;

use super::scan::{COUNTED, Shape, json, largest_bound, regex, string_end};

/// What a grammar amounts to, and the JSON schemas that stand in it.
#[derive(Debug, Default)]
pub(super) struct Lark<'a> {
    pub shape: Shape,
    /// The values that follow `%json`.
    pub schemas: Vec<&'a [u8]>,
    /// Whether it holds a grammar within the grammar, whose rules are not counted.
    pub nested: bool,
}

/// A definition: its own operators and the names it uses.
#[derive(Default)]
struct Definition<'a> {
    operators: usize,
    uses: Vec<&'a [u8]>,
}

/// Scans a grammar: depth of brackets (expressions' and inline JSON's too), definitions, operators
/// with terminals written out, and the largest repetition.
pub(super) fn lark(text: &[u8]) -> Lark<'_> {
    let mut scanner = Scanner {
        text,
        index: 0,
        depth: 0,
        line_name: None,
        current: b"",
        definitions: HashMap::new(),
        found: Lark::default(),
    };
    while scanner.index < text.len() {
        let shape = scanner.step();
        scanner.definition().operators += shape.operators;
        scanner.found.shape.merge(Shape { operators: 0, ..shape });
    }
    scanner.found.shape.operators = written_out(&scanner.definitions);
    scanner.found
}

struct Scanner<'a> {
    text: &'a [u8],
    index: usize,
    depth: usize,
    /// The first name on the line, and how many uses the definition before had until then.
    line_name: Option<(&'a [u8], usize)>,
    /// The name of the definition that the text belongs to.
    current: &'a [u8],
    definitions: HashMap<&'a [u8], Definition<'a>>,
    found: Lark<'a>,
}

impl<'a> Scanner<'a> {
    /// Reads one lexeme and answers what it adds.
    fn step(&mut self) -> Shape {
        let (text, start) = (self.text, self.index);
        let byte = text[start];
        let one = |operators| Shape { operators, ..Shape::default() };
        self.index += 1;
        match byte {
            b'"' => self.index = string_end(text, start) + 1,
            b'#' => self.index = line_end(text, start),
            b'/' if text.get(start + 1) == Some(&b'/') => self.index = line_end(text, start),
            b'/' => return self.expression(start),
            b'<' => self.index = special_end(text, start) + 1,
            b'%' => return self.directive(start),
            b'(' | b'[' | b'{' | b'~' => return self.bracket(start),
            b')' | b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 0 => {
                let (name, uses) = self.line_name.unwrap_or((b"", usize::MAX));
                self.definition().uses.truncate(uses);
                self.current = name;
                return Shape { rules: 1, ..Shape::default() };
            }
            b'?' | b'*' | b'+' | b'|' | b'&' => return one(1),
            b'\n' => self.line_name = None,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name(start),
            _ => {}
        }
        Shape::default()
    }

    fn definition(&mut self) -> &mut Definition<'a> {
        self.definitions.entry(self.current).or_default()
    }

    fn expression(&mut self, start: usize) -> Shape {
        let end = expression_end(self.text, start);
        let inner = regex(self.text.get(start + 1..end).unwrap_or_default());
        self.index = end + 1;
        Shape { depth: self.depth + inner.depth, ..inner }
    }

    fn bracket(&mut self, start: usize) -> Shape {
        let byte = self.text[start];
        self.depth += usize::from(byte != b'~');
        let plain = Shape { depth: self.depth, ..Shape::default() };
        match byte {
            b'{' | b'~' => {
                let repeat = largest_bound(&self.text[start..]).0;
                Shape { repeat, operators: COUNTED, ..plain }
            }
            _ => plain,
        }
    }

    /// `%json` with its value, which is measured as a schema elsewhere; others are words.
    fn directive(&mut self, start: usize) -> Shape {
        let rest = &self.text[start..];
        self.found.nested |= rest.starts_with(b"%lark");
        if !rest.starts_with(b"%json") {
            return Shape::default();
        }
        let value_start = start + b"%json".len();
        self.index = value_end(self.text, value_start);
        let value = &self.text[value_start..self.index];
        self.found.schemas.push(value);
        let inner = json(value);
        Shape { depth: self.depth + inner.depth, ..inner }
    }

    fn name(&mut self, start: usize) {
        let rest = &self.text[start..];
        let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let length = rest.iter().position(|b| !part(b)).unwrap_or(rest.len());
        self.index = start + length;
        let name = &rest[..length];
        let uses = self.definition().uses.len();
        self.line_name.get_or_insert((name, uses));
        self.definition().uses.push(name);
    }
}

/// The index after the JSON value that starts at or after `start`.
fn value_end(text: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut index = start;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'"' => index = string_end(text, index),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += 1;
        if depth == 0 && !byte.is_ascii_whitespace() {
            break;
        }
    }
    index.min(text.len())
}

/// The operators of all definitions, saturating. Those of a terminal include, for each terminal it
/// uses, one and that one's. Rules are not written out, being rules to the compiler too. A cycle is
/// left to the compiler to refuse.
fn written_out(definitions: &HashMap<&[u8], Definition<'_>>) -> usize {
    // None while a definition's parts are being measured.
    let mut sizes: HashMap<&[u8], Option<usize>> = HashMap::new();
    for &name in definitions.keys() {
        let mut stack = vec![name];
        while let Some(&top) = stack.last() {
            if matches!(sizes.get(top), Some(Some(_))) {
                stack.pop();
                continue;
            }
            let definition = &definitions[top];
            let parts = definition.uses.iter().filter(|used| {
                is_terminal(top) && is_terminal(used) && definitions.contains_key(**used)
            });
            if sizes.insert(top, None).is_none() {
                stack.extend(parts.filter(|used| !sizes.contains_key(**used)));
                continue;
            }
            let sum = parts.fold(definition.operators, |sum, used| {
                let size = sizes.get(*used).copied().flatten().unwrap_or(0);
                sum.saturating_add(size).saturating_add(1)
            });
            sizes.insert(top, Some(sum));
            stack.pop();
        }
    }
    sizes.values().fold(0, |sum, size| sum.saturating_add(size.unwrap_or(0)))
}

fn is_terminal(name: &[u8]) -> bool {
    name.iter().find(|b| **b != b'_').is_some_and(u8::is_ascii_uppercase)
}

/// The index of the slash that closes the expression opened at `start`.
fn expression_end(text: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'/' => return index,
            b'\\' => index += 2,
            _ => index += 1,
        }
    }
    text.len()
}

fn line_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    rest.iter().position(|&byte| byte == b'\n').map_or(text.len(), |length| start + length)
}

/// The index of the bracket that closes a special token's name (`<|name|>`, `<[12]>`); `start`
/// itself when what follows is none.
fn special_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start + 1..).unwrap_or_default();
    let stop = |byte: &u8| matches!(byte, b'<' | b'>') || byte.is_ascii_whitespace();
    match rest.iter().position(stop) {
        Some(length) if rest[length] == b'>' => start + 1 + length,
        _ => start,
    }
}
