//! The strict check: what clang's messages and its syntax tree say about address spaces.
//!
//! Clang refuses some of what Metal allows, which is taken out of its messages here, and as plain
//! C++ accepts casts that Metal does not, which are found in the tree it dumps.

use std::collections::BTreeSet;

use super::diagnostics::{Diagnostic, Severity};
use crate::Place;

/// Address spaces as clang spells them in front of a type.
const SPACES: [&str; 4] = ["__attribute__((address_space(", "constant ", "device ", "threadgroup "];

/// Clang's messages, sorted.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub warnings: Vec<Diagnostic>,
    pub errors: Vec<Diagnostic>,
    /// Errors about what Metal allows, if spaces alone are wrong.
    pub allowed: usize,
}

/// Sorts messages. `in_spaces` names classes with member functions for objects in address spaces.
pub(crate) fn judge(messages: Vec<Diagnostic>, in_spaces: &BTreeSet<String>) -> Judged {
    let mut judged = Judged::default();
    for one in messages {
        if one.severity == Severity::Warning {
            judged.warnings.push(one);
        } else if is_copy(&one) || is_member(&one, in_spaces) {
            judged.allowed += 1;
        } else {
            judged.errors.push(one);
        }
    }
    judged
}

/// A copy of a whole struct from one address space to another, which clang refuses for want of a
/// copy constructor or assignment in that space. Where the struct is an aggregate it speaks of a
/// conversion to the first member's type.
fn is_copy(diagnostic: &Diagnostic) -> bool {
    let text = &diagnostic.text;
    if let Some(from) = text.strip_prefix("no viable conversion from '") {
        let from = from.strip_prefix("const ").unwrap_or(from);
        if SPACES.iter().any(|space| from.starts_with(space)) {
            return true;
        }
    }
    let copies = [
        "no matching constructor for initialization",
        "no matching conversion for functional-style cast",
        "no viable overloaded '='",
    ];
    copies.iter().any(|copy| text.starts_with(copy))
        && diagnostic
            .notes
            .iter()
            .any(|note| note.text.contains("implicit copy") && note.text.contains("address space"))
}

/// A call of a member function for objects in an address space: the text that clang reads has the
/// plain one only.
fn is_member(diagnostic: &Diagnostic, in_spaces: &BTreeSet<String>) -> bool {
    let text = &diagnostic.text;
    let spaced = |space: &&str| {
        text.contains(&format!("'{space}")) || text.contains(&format!("'const {space}"))
    };
    let about = text.starts_with("cannot initialize object parameter of type")
        || text.starts_with("no matching member function");
    about
        && (SPACES.iter().any(spaced)
            || diagnostic.notes.iter().any(|note| note.text.contains("address space")))
        && in_spaces.iter().any(|class| text.contains(class.as_str()))
}

/// Casts from one address space to another, and casts that reinterpret a vector. `headers` is where
/// the library's own files lie.
pub(crate) fn casts(tree: &str, headers: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut place = Place { file: String::new(), line: 0, column: 0 };
    for node in tree.lines() {
        let Some((range, rest)) = range(node) else { continue };
        let mut ends = range.split(", ");
        follow(ends.next().unwrap_or_default(), &mut place);
        let start = place.clone();
        ends.for_each(|end| follow(end, &mut place));
        // The place of a declaration's name moves on what follows relates to.
        follow(rest.split(' ').next().unwrap_or_default(), &mut place);
        let explicit = node.contains("CStyleCastExpr ")
            || node.contains("CXXFunctionalCastExpr ")
            || node.ends_with("part_of_explicit_cast");
        if !explicit || start.file.starts_with(headers) {
            continue;
        }
        let text = if node.contains("<AddressSpaceConversion>") {
            let target = rest.split('\'').nth(1).unwrap_or_default();
            format!("cast to another address space: `{target}` cannot be made of what is cast")
        } else if node.contains("<BitCast>") && is_vector(rest) {
            "a C-style cast of a vector converts its elements in Metal: write a constructor such \
             as float4(x), or as_type<float4>(x) to keep the bits"
                .to_owned()
        } else {
            continue;
        };
        let cast = Diagnostic::error(start, text);
        // Each instance of a template has the cast again.
        if !found.contains(&cast) {
            found.push(cast);
        }
    }
    found
}

/// Whether the type that stands first, in quotes, is a vector and no pointer.
fn is_vector(rest: &str) -> bool {
    let kind = rest.split(" <").next().unwrap_or_default().trim_end();
    kind.contains("ext_vector_type") && !kind.contains('*')
}

/// The range in the angle brackets behind a node's address, and what follows it.
fn range(node: &str) -> Option<(&str, &str)> {
    let address = node.find(" 0x")? + 1;
    let open = address + node[address..].find(" <")? + 2;
    let mut depth = 1;
    for (at, letter) in node[open..].char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let after = node[open + at + 1..].trim_start();
            return Some((&node[open..open + at], after));
        }
    }
    None
}

/// Moves on to a location: `col:7`, `line:3:7` or `file:3:7`.
fn follow(location: &str, place: &mut Place) {
    let mut parts = location.rsplitn(3, ':');
    let column = parts.next().and_then(|column| column.parse().ok());
    let (Some(column), line, file) = (column, parts.next(), parts.next()) else { return };
    match (line, file) {
        (Some("col"), None) => {}
        (Some(line), Some(file)) => {
            let Ok(line) = line.parse() else { return };
            if file != "line" {
                file.clone_into(&mut place.file);
            }
            place.line = line;
        }
        _ => return,
    }
    place.column = column;
}

#[cfg(test)]
#[path = "strict_tests.rs"]
mod tests;
