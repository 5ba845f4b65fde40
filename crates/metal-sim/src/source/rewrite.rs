//! Changes to the text: what C++ cannot say becomes one of the library's macros.
//!
//! Variables in threadgroup memory become references into the memory of the running threadgroup;
//! function constants become variables that a launch sets; program-scope constants made from
//! them are computed anew at each use.

use std::collections::BTreeSet;
use std::ops::Range;

use super::attributes::{Attribute, split};
use super::declarations::{Declaration, Shape, Template, close_of, close_of_angle};
use super::lexer::{Kind, Token};
use super::render::Page;
use super::{Fault, Faults};

/// Tokens to replace, and by what; before the first where there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub tokens: Range<usize>,
    pub text: String,
}

/// A function constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    pub name: String,
    /// Namespaces around it, each followed by `::`.
    pub scope: String,
    /// An expression.
    pub index: String,
    pub kind: String,
}

/// Tokens as text, separated as they were.
pub(crate) fn spell(tokens: &[Token<'_>]) -> String {
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        let word = |kind| matches!(kind, Kind::Word | Kind::Number);
        let touch = at > 0 && word(token.kind) && word(tokens[at - 1].kind);
        if at > 0 && (token.spaced || touch) {
            text.push(' ');
        }
        text.push_str(token.text);
    }
    text
}

/// Writes the tokens with the edits made.
pub(crate) fn apply(tokens: &[Token<'_>], files: &[String], edits: &mut [Edit]) -> String {
    edits.sort_by_key(|edit| (edit.tokens.start, !edit.tokens.is_empty()));
    let mut page = Page::new(files);
    let mut at = 0;
    for edit in edits.iter() {
        // What stands inside of text that is replaced goes with it.
        if edit.tokens.start < at {
            continue;
        }
        tokens[at..edit.tokens.start].iter().for_each(|token| page.token(token));
        let end = edit.tokens.start.min(tokens.len() - 1);
        page.insert(&edit.text, &tokens[end]);
        at = edit.tokens.end;
    }
    tokens[at..].iter().for_each(|token| page.token(token));
    page.finish()
}

/// Rewrites variables in threadgroup memory inside of kernels.
pub(crate) fn threadgroup_variables(
    tokens: &[Token<'_>],
    declarations: &[Declaration],
    is_kernel: impl Fn(usize) -> bool,
    faults: &mut Faults<'_>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut id = 0;
    for declaration in declarations {
        let Shape::Function { name, body: Some((open, close)), .. } = declaration.shape else {
            continue;
        };
        let mut at = open + 1;
        while at < close {
            let starts = ["{", "}", ";", ")"].contains(&tokens[at - 1].text)
                || tokens[at - 1].kind == Kind::Pragma;
            let end = if starts { variable_end(tokens, at, close) } else { None };
            let Some(end) = end else {
                at += 1;
                continue;
            };
            match variables(&tokens[at..end], &mut id, faults) {
                Some(_) if !is_kernel(name) => faults.add(&tokens[at], Fault::ThreadgroupOutside),
                Some(text) => edits.push(Edit { tokens: at..end + 1, text }),
                None => {}
            }
            at = end + 1;
        }
    }
    edits
}

/// The `;` of a statement whose leading words name the threadgroup space.
fn variable_end(tokens: &[Token<'_>], start: usize, limit: usize) -> Option<usize> {
    let words = ["const", "volatile", "static", "alignas", "__attribute__"];
    let mut at = start;
    while words.contains(&tokens[at].text) {
        at += 1;
        if tokens[at].text == "(" {
            at = close_of(tokens, at)? + 1;
        }
    }
    if tokens[at].text != "threadgroup" {
        return None;
    }
    while at < limit && tokens[at].text != ";" {
        if ["(", "[", "{"].contains(&tokens[at].text) {
            at = close_of(tokens, at)?;
        }
        at += 1;
    }
    (at < limit).then_some(at)
}

/// The macros for the variables of one declaration; nothing where it declares pointers.
fn variables(tokens: &[Token<'_>], id: &mut u32, faults: &mut Faults<'_>) -> Option<String> {
    let words: Vec<Token<'_>> =
        tokens.iter().filter(|t| !["threadgroup", "static"].contains(&t.text)).copied().collect();
    let parts = split(&words, ",");
    let name = declared_name(parts.first()?)?;
    let kind = spell(&words[..name]);
    let mut text = String::new();
    for (number, part) in parts.iter().enumerate() {
        let part = if number == 0 { &part[name..] } else { part };
        let variable = part.first()?;
        if let Some(value) = part.iter().find(|t| ["=", "{"].contains(&t.text)) {
            faults.add(value, Fault::ThreadgroupValue { name: variable.text.to_owned() });
            return None;
        }
        let name = variable.text;
        let extent = spell(&part[1..]);
        text.push_str(&format!(
            "typedef {kind} msim_type_{name}{extent}; \
             MSIM_THREADGROUP({id}, msim_type_{name}, {name}) "
        ));
        *id += 1;
    }
    Some(text.trim_end().to_owned())
}

/// Index of the declared name: the last word before an array's bounds, a value or the end. Nothing
/// where a pointer or reference is declared.
fn declared_name(tokens: &[Token<'_>]) -> Option<usize> {
    let mut name = None;
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "<" => at = close_of_angle(tokens, at)?,
            "(" => at = close_of(tokens, at)?,
            "*" | "&" => return None,
            "[" | "=" | "{" => break,
            _ if tokens[at].kind == Kind::Word => name = Some(at),
            _ => {}
        }
        at += 1;
    }
    name.filter(|name| *name > 0)
}

/// Rewrites function constants and what is made from them.
pub(crate) fn constants(
    tokens: &[Token<'_>],
    attributes: &[Attribute<'_>],
    declarations: &[Declaration],
    faults: &mut Faults<'_>,
) -> (Vec<Edit>, Vec<Constant>) {
    let mut edits = Vec::new();
    let mut found: Vec<Constant> = Vec::new();
    let mut names = BTreeSet::new();
    let variables = declarations.iter().filter(|declaration| {
        declaration.shape == Shape::Variable
            && declaration.template == Template::None
            && declaration.class.is_none()
    });
    for declaration in variables {
        let range = declaration.start..declaration.end;
        let part = &tokens[range.clone()];
        let Some(name) = declared_name(part) else { continue };
        if !part[..name].iter().any(|token| token.text == "constant") {
            continue;
        }
        let kind: Vec<Token<'_>> = part[..name]
            .iter()
            .filter(|t| !["constant", "const", "constexpr", "static", "inline"].contains(&t.text))
            .copied()
            .collect();
        let (kind, text) = (spell(&kind), part[name].text);
        let own = attributes.iter().filter(|a| (range.start..=range.end).contains(&a.before));
        let tokens = declaration.start..declaration.end + 1;
        if let Some(attribute) = own.clone().find(|a| a.name == "function_constant") {
            let index = spell(&attribute.arguments);
            if let Some(other) = found.iter().find(|other| other.index == index) {
                let (first, second) = (other.name.clone(), text.to_owned());
                let index = index.clone();
                let fault = Fault::SameIndex { what: "function_constant", index, first, second };
                faults.add(&attribute.token, fault);
            }
            let macro_call = format!("MSIM_CONSTANT({text}, {index}, {kind})");
            edits.push(Edit { tokens, text: macro_call });
            names.insert(text);
            let (name, scope) = (text.to_owned(), declaration.scope.clone());
            found.push(Constant { name, scope, index, kind });
        } else if let [_, equals, value @ ..] = &part[name..]
            && equals.text == "="
            && value.iter().any(|token| names.contains(token.text))
        {
            let value = spell(value);
            edits.push(Edit { tokens, text: format!("MSIM_DERIVED({text}, ({kind}), {value});") });
            names.insert(text);
        }
    }
    (edits, found)
}
