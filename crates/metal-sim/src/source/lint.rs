//! What Metal asks of pointers and references: an address space on each. A C++ compiler does not
//! ask, so a source that Apple's refuses would pass.
//!
//! Looks at parameters, results, members and local variables. Types named `auto` and template
//! arguments are not looked at.

use super::declarations::{Declaration, Shape, Template, close_of, close_of_angle};
use super::lexer::{Kind, Token};
use super::{Fault, Faults, attributes::split};

/// Address spaces.
pub(crate) const SPACES: [&str; 7] = [
    "constant",
    "device",
    "object_data",
    "ray_data",
    "thread",
    "threadgroup",
    "threadgroup_imageblock",
];

/// Words that may stand before a type.
const QUALIFIERS: [&str; 7] =
    ["const", "constexpr", "inline", "static", "typename", "unsigned", "volatile"];

/// Words that begin statements which declare nothing.
const STATEMENTS: [&str; 9] =
    ["auto", "case", "delete", "else", "goto", "operator", "return", "throw", "using"];

/// Finds pointers and references without an address space.
pub(crate) fn address_spaces(
    tokens: &[Token<'_>],
    declarations: &[Declaration],
    faults: &mut Faults<'_>,
) {
    for declaration in declarations {
        if declaration.template == Template::Instantiation {
            continue;
        }
        declared(tokens, declaration.start, declaration.end, true, faults);
        let Shape::Function { open, close, body, .. } = declaration.shape else { continue };
        for part in split(&tokens[open + 1..close], ",") {
            parameter(part, faults);
        }
        let Some((open, close)) = body else { continue };
        for at in open + 1..close {
            let before = tokens[at - 1].text;
            let starts =
                ["{", "}", ";"].contains(&before) || before == "(" && tokens[at - 2].text == "for";
            if starts {
                declared(tokens, at, close, false, faults);
            }
        }
    }
}

fn parameter(part: &[Token<'_>], faults: &mut Faults<'_>) {
    let mut at = 0;
    while at < part.len() {
        let token = &part[at];
        match token.text {
            "<" => at = close_of_angle(part, at).unwrap_or(at),
            "[" => at = close_of(part, at).unwrap_or(at),
            "=" => return,
            "decltype" | "__attribute__" => {
                at = close_of(part, (at + 1).min(part.len() - 1)).unwrap_or(at);
            }
            "*" | "&" => {
                let spaced = part.iter().any(|t| SPACES.contains(&t.text) || t.text == "auto");
                if !spaced {
                    let name = part.iter().rfind(|t| t.kind == Kind::Word).map_or("", |t| t.text);
                    let (name, what) = (name.to_owned(), what(token));
                    faults.add(token, Fault::NoAddressSpace { what, name });
                }
                return;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Reads `type * name` at the start of a statement or declaration.
fn declared(
    tokens: &[Token<'_>],
    start: usize,
    end: usize,
    outside: bool,
    faults: &mut Faults<'_>,
) {
    let text = |at: usize| if at < end { tokens[at].text } else { "" };
    let word = |at: usize| at < end && tokens[at].kind == Kind::Word;
    let mut at = start;
    while QUALIFIERS.contains(&text(at)) {
        at += 1;
    }
    if !word(at) || SPACES.contains(&text(at)) || STATEMENTS.contains(&text(at)) {
        return;
    }
    loop {
        at += 1;
        if text(at) == "<" {
            let Some(close) = close_of_angle(&tokens[..end], at) else { return };
            at = close + 1;
        }
        if text(at) != "::" || !word(at + 1) {
            break;
        }
        at += 1;
    }
    if text(at) == "const" {
        at += 1;
    }
    let sign = at;
    if !["*", "&"].contains(&text(sign)) || !word(sign + 1) || SPACES.contains(&text(sign + 1)) {
        return;
    }
    let follows = text(sign + 2);
    let ends = ["=", ";", ",", ":"].contains(&follows) || sign + 2 == end;
    let declares =
        ends || outside && (["(", "["].contains(&follows) || text(sign + 1) == "operator");
    if declares {
        let (what, name) = (what(&tokens[sign]), text(sign + 1).to_owned());
        faults.add(&tokens[sign], Fault::NoAddressSpace { what, name });
    }
}

fn what(sign: &Token<'_>) -> &'static str {
    if sign.text == "*" { "pointer" } else { "reference" }
}
