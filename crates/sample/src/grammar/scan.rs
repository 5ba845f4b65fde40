//! Measures a grammar's source before any parser sees it: how deep it nests, how many rules it
//! has, how often it repeats.
//!
//! This scanner and [`super::scan_lark`] split the text into strings, comments and expressions
//! exactly as the compiler's lexers do, so nothing can nest out of their sight. They recurse
//! nowhere, take linear time, and judge no syntax: what they misread the compiler refuses.

/// What a source amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// Deepest nesting of brackets.
    pub depth: usize,
    /// Rules (Lark) or objects (JSON).
    pub rules: usize,
    /// Largest repetition, nested ones multiplied (saturating).
    pub repeat: u64,
    /// Operators and character classes, a counted repetition as [`COUNTED`] of them.
    pub operators: usize,
}

/// What a counted repetition weighs among the operators: the rules it is split into.
pub(super) const COUNTED: usize = 16;

impl Shape {
    pub fn merge(&mut self, other: Shape) {
        self.depth = self.depth.max(other.depth);
        self.rules = self.rules.saturating_add(other.rules);
        self.repeat = self.repeat.max(other.repeat);
        self.operators = self.operators.saturating_add(other.operators);
    }
}

/// A JSON text: depth and number of objects.
pub(super) fn json(text: &[u8]) -> Shape {
    let mut shape = Shape::default();
    let mut depth = 0usize;
    let mut index = 0;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'"' => index = string_end(text, index),
            b'{' | b'[' => {
                depth += 1;
                shape.depth = shape.depth.max(depth);
                shape.rules += usize::from(byte == b'{');
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        index += 1;
    }
    shape
}

/// A regular expression: depth of groups and classes, operators, and the largest product of
/// repetitions within repetitions.
pub(super) fn regex(text: &[u8]) -> Shape {
    let mut shape = Shape::default();
    // For each open group, the largest repetition in it so far.
    let mut open: Vec<u64> = vec![1];
    let mut atom = 1u64;
    let mut index = 0;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'\\' => {
                index += 1;
                atom = 1;
                shape.operators +=
                    usize::from(text.get(index).is_some_and(u8::is_ascii_alphabetic));
            }
            b'[' => {
                let (end, depth) = class_end(text, index);
                shape.depth = shape.depth.max(open.len() - 1 + depth);
                // Each escape in a class may stand for a class of its own.
                shape.operators += text[index..end].iter().filter(|&&b| b == b'\\').count();
                (index, atom) = (end, 1);
            }
            b'(' => {
                open.push(1);
                shape.depth = shape.depth.max(open.len() - 1);
            }
            b')' if open.len() > 1 => {
                atom = open.pop().unwrap_or(1);
                raise(&mut open, atom);
            }
            b'{' => {
                let (bound, length) = largest_bound(&text[index..]);
                let closed = text.get(index + length) == Some(&b'}');
                (index, atom) =
                    if closed { (index + length, atom.saturating_mul(bound)) } else { (index, 1) };
                raise(&mut open, atom);
                shape.repeat = shape.repeat.max(atom);
                shape.operators += if closed { COUNTED } else { 0 };
            }
            b'?' | b'*' | b'+' => shape.operators += 1,
            b'|' | b'.' => {
                shape.operators += 1;
                atom = 1;
            }
            _ => atom = 1,
        }
        index += 1;
    }
    shape
}

fn raise(open: &mut [u64], atom: u64) {
    if let Some(top) = open.last_mut() {
        *top = (*top).max(atom);
    }
}

/// The index of the quote that closes the string opened at `start`, or of the text's last byte.
pub(super) fn string_end(text: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while let Some(&byte) = text.get(index) {
        match byte {
            b'"' => return index,
            b'\\' => index += 2,
            _ => index += 1,
        }
    }
    text.len()
}

/// The end of the class opened at `start`, and how deep classes nest in it.
fn class_end(text: &[u8], start: usize) -> (usize, usize) {
    let (mut depth, mut deepest) = (1usize, 1usize);
    let mut index = start + 1;
    // A closing bracket that comes first stands for itself.
    if text.get(index) == Some(&b'^') {
        index += 1;
    }
    if text.get(index) == Some(&b']') {
        index += 1;
    }
    while let Some(&byte) = text.get(index) {
        match byte {
            b'\\' => index += 1,
            b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' => {
                depth -= 1;
                if depth == 0 {
                    return (index, deepest);
                }
            }
            _ => {}
        }
        index += 1;
    }
    (text.len(), deepest)
}

/// The largest number in `{n}`, `{n,}`, `{n,m}`, `~n` or `~n..m`, whose first byte is `text`'s (one
/// when no bound follows), and the bytes read up to what ends it.
pub(super) fn largest_bound(text: &[u8]) -> (u64, usize) {
    let mut largest = 1u64;
    let mut number = 0u64;
    let mut length = 1;
    for &byte in &text[1..] {
        match byte {
            b'0'..=b'9' => {
                number = number.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                largest = largest.max(number);
            }
            b',' | b'.' | b' ' | b'\t' => number = 0,
            _ => break,
        }
        length += 1;
    }
    (largest, length)
}
