//! Signatures that Metal has and C++ has not: arrays in an address space as parameters, and member
//! functions for objects in an address space.

use std::collections::{BTreeMap, BTreeSet};

use super::attributes::split;
use super::declarations::{Declaration, Shape, Template, close_of, close_of_angle, open_of};
use super::lexer::{Kind, Token};
use super::lint::SPACES;
use super::rewrite::{Edit, spell};

/// `threadgroup T x[4]` among parameters becomes `threadgroup T *x`.
pub(crate) fn array_parameters(tokens: &[Token<'_>], declarations: &[Declaration]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for declaration in declarations {
        let range = match (declaration.shape, declaration.template) {
            (Shape::Function { open, close, .. }, _) => open..close,
            (Shape::Variable, Template::Instantiation) => {
                let close = declaration.end.saturating_sub(1);
                let called = tokens.get(close).is_some_and(|token| token.text == ")");
                let Some(open) = open_of(tokens, close).filter(|_| called) else { continue };
                open..close
            }
            (Shape::Variable | Shape::Class, _) => continue,
        };
        let mut start = range.start + 1;
        for part in split(&tokens[start..range.end], ",") {
            edits.extend(array(part, start).into_iter().flatten());
            start += part.len() + 1;
        }
    }
    edits
}

fn array(part: &[Token<'_>], start: usize) -> Option<Vec<Edit>> {
    if !part.iter().any(|token| SPACES.contains(&token.text)) {
        return None;
    }
    let mut at = 0;
    while part.get(at)?.text != "[" {
        at = if part[at].text == "<" { close_of_angle(part, at)? + 1 } else { at + 1 };
    }
    let close = close_of(part, at)?;
    // In `(&x)[4]` the array is referred to, and stays one.
    let named = at > 1 && part[at - 1].kind == Kind::Word;
    let nested = part.get(close + 1).is_some_and(|next| next.text == "[");
    if !named {
        return None;
    }
    let (front, back) = if nested { ("(*", ")") } else { ("*", "") };
    Some(vec![
        Edit { tokens: start + at - 1..start + at - 1, text: front.to_owned() },
        Edit { tokens: start + at..start + close + 1, text: back.to_owned() },
    ])
}

/// Takes the address spaces from member functions; of those that differ by them alone the first
/// remains. Also names the classes, whose objects then seem to be in the wrong space.
pub(crate) fn members(
    tokens: &[Token<'_>],
    declarations: &[Declaration],
) -> (Vec<Edit>, BTreeSet<String>) {
    let (mut edits, mut classes) = (Vec::new(), BTreeSet::new());
    let mut known: BTreeMap<_, bool> = BTreeMap::new();
    for declaration in declarations.iter().filter(|declaration| declaration.class.is_some()) {
        let Shape::Function { name, close, body, .. } = declaration.shape else { continue };
        let end = body.map_or(declaration.end, |(open, _)| open);
        let is_space = |at: &usize| SPACES.contains(&tokens[*at].text);
        let initialisers = (close..end).find(|at| tokens[*at].text == ":").unwrap_or(end);
        let spaces: Vec<usize> = (close + 1..initialisers).filter(is_space).collect();
        let plain = |range: std::ops::Range<usize>| {
            let kept: Vec<Token<'_>> =
                range.filter(|at| !spaces.contains(at)).map(|at| tokens[at]).collect();
            spell(&kept)
        };
        // The space of a result often follows that of the object.
        let key = (declaration.class, plain(name..initialisers));
        let spaced = !spaces.is_empty();
        if spaced {
            classes.insert(class_of(&declaration.scope).to_owned());
        }
        let earlier = known.get(&key).copied();
        known.insert(key, spaced || earlier == Some(true));
        if earlier.is_some_and(|earlier| earlier || spaced) {
            let tokens = declaration.first..(declaration.end + 1).min(tokens.len());
            edits.push(Edit { tokens, text: String::new() });
        } else {
            let without = |at: usize| Edit { tokens: at..at + 1, text: String::new() };
            edits.extend(spaces.into_iter().map(without));
        }
    }
    (edits, classes)
}

/// Constructors as C++ now has them: none is called `name<T>`; and a class whose constructors are
/// all `= default` is an aggregate in Metal, so those without parameters go.
pub(crate) fn constructors(tokens: &[Token<'_>], declarations: &[Declaration]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut defaults = Vec::new();
    let mut others = BTreeSet::new();
    for declaration in declarations.iter().filter(|declaration| declaration.class.is_some()) {
        let Shape::Function { name, open, close, body } = declaration.shape else { continue };
        let angle = if tokens[name].text == ">" { open_of(tokens, name) } else { None };
        let word = angle.map_or(name, |angle| angle.saturating_sub(1));
        let before = word.checked_sub(1).map_or("", |before| tokens[before].text);
        if tokens[word].text != class_of(&declaration.scope) || before == "~" {
            continue;
        }
        if let Some(angle) = angle {
            edits.push(Edit { tokens: angle..open, text: String::new() });
        }
        let ends = &tokens[declaration.end.saturating_sub(2)..declaration.end];
        let default = body.is_none() && ends.iter().map(|t| t.text).eq(["=", "default"]);
        if default && close == open + 1 {
            defaults.push(declaration);
        } else if !default {
            others.insert(declaration.class);
        }
    }
    for declaration in defaults.into_iter().filter(|one| !others.contains(&one.class)) {
        let tokens = declaration.first..(declaration.end + 1).min(tokens.len());
        edits.push(Edit { tokens, text: String::new() });
    }
    edits
}

/// Functions and classes that differ from an earlier one by address spaces alone: where spaces are
/// no types they are the same, and the headers' macro leaves them out.
/// `gone` are edits that take whole functions away.
pub(crate) fn repeated(
    tokens: &[Token<'_>],
    declarations: &[Declaration],
    gone: &[Edit],
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut known = BTreeSet::new();
    for declaration in declarations {
        match declaration.shape {
            Shape::Function { body: Some(_), .. } | Shape::Class => {}
            Shape::Function { body: None, .. } | Shape::Variable => continue,
        }
        let all = declaration.first..(declaration.end + 1).min(tokens.len());
        if gone.iter().any(|edit| edit.tokens == all) {
            continue;
        }
        let mut spaced = false;
        let mut plain = Vec::new();
        for token in &tokens[all.clone()] {
            if SPACES.contains(&token.text) {
                spaced = true;
            } else {
                plain.push(token.text);
            }
        }
        let key = (declaration.class, declaration.scope.as_str(), plain);
        // Functions without any space cannot be told apart by them.
        if !known.insert(key) && spaced {
            let front = "MSIM_OF_ANOTHER_SPACE(".to_owned();
            edits.push(Edit { tokens: all.start..all.start, text: front });
            edits.push(Edit { tokens: all.end..all.end, text: ")".to_owned() });
        }
    }
    edits
}

/// The last name of a scope.
fn class_of(scope: &str) -> &str {
    scope.trim_end_matches("::").rsplit("::").next().unwrap_or_default()
}
