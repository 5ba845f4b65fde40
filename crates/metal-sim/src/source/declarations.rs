//! Finds the declarations of a source: functions, variables, explicit instantiations, with the
//! namespaces and classes they stand in.
//!
//! Not a parser of C++: it follows brackets and the words that begin declarations, and leaves every
//! doubt to the compiler that reads the text afterwards.

use super::lexer::{Kind, Token};

/// What a declaration has to do with templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    None,
    Generic,
    Specialisation,
    /// `template void f<int>(int);`
    Instantiation,
}

/// What is declared. Numbers are indices of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A function; `open` and `close` are the parentheses of its parameters, `body` the braces.
    Function { name: usize, open: usize, close: usize, body: Option<(usize, usize)> },
    /// A class, with its members.
    Class,
    /// Anything else that has a type and a name.
    Variable,
}

/// A declaration.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    /// First token, that of a template's header.
    pub first: usize,
    /// First token behind a template's header.
    pub start: usize,
    /// The `;` or the closing brace.
    pub end: usize,
    pub template: Template,
    pub shape: Shape,
    /// Names of the namespaces and classes around it, each followed by `::`.
    pub scope: String,
    /// The brace that opens the innermost class around it.
    pub class: Option<usize>,
}

/// All declarations, in order, those inside of classes after them.
pub(crate) fn declarations(tokens: &[Token<'_>]) -> Vec<Declaration> {
    let mut walk = Walk { tokens, found: Vec::new() };
    walk.scope(0, tokens.len(), "", None);
    walk.found.sort_by_key(|declaration| declaration.start);
    walk.found
}

/// Index of the bracket that closes the one at `open`; nothing where it stays open.
pub(crate) fn close_of(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => continue,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Index of the `>` that closes the `<` at `open`, if that is one of template arguments.
pub(crate) fn close_of_angle(tokens: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    while at < tokens.len() {
        match tokens[at].text {
            "<" => depth += 1,
            ">" => depth -= 1,
            "(" | "[" | "{" => at = close_of(tokens, at)?,
            ")" | "]" | "}" | ";" | "&&" | "||" => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Index of the opening partner of the `)` or `>` at `close`.
pub(crate) fn open_of(tokens: &[Token<'_>], close: usize) -> Option<usize> {
    let (open, shut) = if tokens[close].text == ">" { ("<", ">") } else { ("(", ")") };
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        if tokens[at].text == shut {
            depth += 1;
        } else if tokens[at].text == open {
            depth -= 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Words whose parentheses belong to them.
const WITH_PARENTHESES: [&str; 6] =
    ["__attribute__", "alignas", "decltype", "explicit", "noexcept", "sizeof"];

struct Walk<'t, 'a> {
    tokens: &'t [Token<'a>],
    found: Vec<Declaration>,
}

/// Where a declaration stands.
#[derive(Clone, Copy)]
struct Place<'s> {
    scope: &'s str,
    class: Option<usize>,
    template: Template,
    /// Its first token.
    first: usize,
}

impl Walk<'_, '_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// Declarations between two tokens.
    fn scope(&mut self, start: usize, end: usize, scope: &str, class: Option<usize>) {
        let mut at = start;
        while at < end {
            // Each step goes forward, whatever the text is.
            let place = Place { scope, class, template: Template::None, first: at };
            at = self.declaration(at, place).max(at + 1);
        }
    }

    /// Reads one declaration and says where the next begins.
    fn declaration(&mut self, at: usize, place: Place<'_>) -> usize {
        match self.text(at) {
            "namespace" => self.namespace(at, place.scope),
            "extern" if self.tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Text) => {
                if self.text(at + 2) != "{" {
                    return at + 2;
                }
                self.braces(at + 2, place.scope, place.class)
            }
            "using" | "typedef" | "static_assert" | "friend" | "enum" => self.semicolon(at) + 1,
            "public" | "private" | "protected" => at + 2,
            "template" if self.text(at + 1) == "<" => {
                let Some(close) = close_of_angle(self.tokens, at + 1) else { return at + 1 };
                let generic = close > at + 2;
                let kind = if generic { Template::Generic } else { Template::Specialisation };
                self.declaration(close + 1, Place { template: kind, ..place })
            }
            "template" => {
                let end = self.semicolon(at);
                let place = Place { template: Template::Instantiation, ..place };
                self.add(at + 1, end, Shape::Variable, place)
            }
            "struct" | "class" | "union" => self.class(at, place),
            _ if self.tokens.get(at).is_some_and(|token| token.kind == Kind::Pragma) => at + 1,
            ";" | "}" => at + 1,
            _ => self.ordinary(at, place),
        }
    }

    fn namespace(&mut self, at: usize, scope: &str) -> usize {
        let mut inner = scope.to_owned();
        let mut next = at + 1;
        while next < self.tokens.len() && !["{", ";"].contains(&self.text(next)) {
            if self.tokens[next].kind == Kind::Word && self.text(next) != "inline" {
                inner = format!("{inner}{}::", self.text(next));
            }
            next += 1;
        }
        if self.text(next) == "{" { self.braces(next, &inner, None) } else { next + 1 }
    }

    /// A scope in the braces at `open`; says what follows them.
    fn braces(&mut self, open: usize, scope: &str, class: Option<usize>) -> usize {
        let Some(close) = close_of(self.tokens, open) else { return self.tokens.len() };
        self.scope(open + 1, close, scope, class);
        close + 1
    }

    fn class(&mut self, at: usize, place: Place<'_>) -> usize {
        let mut next = at + 1;
        while next < self.tokens.len() {
            match self.text(next) {
                "{" => {
                    let name = (at + 1..next).find(|at| self.tokens[*at].kind == Kind::Word);
                    let name = name.map_or("", |name| self.text(name)).to_owned();
                    let after = self.braces(next, &format!("{}{name}::", place.scope), Some(next));
                    return self.add(at, self.semicolon(after), Shape::Class, place);
                }
                "(" if !WITH_PARENTHESES.contains(&self.text(next - 1)) => break,
                "(" => next = close_of(self.tokens, next).unwrap_or(next),
                ";" | "=" => break,
                _ => {}
            }
            next += 1;
        }
        self.ordinary(at, place)
    }

    /// Index of the next `;` that stands in no brackets.
    fn semicolon(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() && self.text(at) != ";" {
            if ["(", "[", "{"].contains(&self.text(at)) {
                at = close_of(self.tokens, at).unwrap_or(self.tokens.len());
            }
            at += 1;
        }
        at.min(self.tokens.len())
    }

    fn ordinary(&mut self, start: usize, place: Place<'_>) -> usize {
        let declarator = self.declarator(start);
        let (shape, end) = match declarator {
            Some(open) => {
                let Some(close) = close_of(self.tokens, open) else { return self.tokens.len() };
                let body = self.body(close + 1);
                let end = body.map_or_else(|| self.semicolon(close), |(_, close)| close);
                (Shape::Function { name: open - 1, open, close, body }, end)
            }
            None => (Shape::Variable, self.semicolon(start)),
        };
        self.add(start, end, shape, place)
    }

    /// Notes a declaration and says where the next begins.
    fn add(&mut self, start: usize, end: usize, shape: Shape, place: Place<'_>) -> usize {
        let Place { scope, class, template, first } = place;
        let scope = scope.to_owned();
        self.found.push(Declaration { first, start, end, template, shape, scope, class });
        end + 1
    }

    /// The parenthesis that opens a function's parameters; nothing for a variable.
    fn declarator(&self, start: usize) -> Option<usize> {
        let mut at = start;
        while at < self.tokens.len() {
            let before = if at > start { self.text(at - 1) } else { "" };
            match self.text(at) {
                ";" | "=" | "{" | "}" => return None,
                "operator" => {
                    // The name of an operator may itself be a pair of parentheses.
                    at += if self.text(at + 1) == "(" { 3 } else { 2 };
                    while at < self.tokens.len() && self.text(at) != "(" {
                        at += 1;
                    }
                    return (at < self.tokens.len()).then_some(at);
                }
                "<" => at = close_of_angle(self.tokens, at).unwrap_or(at),
                "[" => at = close_of(self.tokens, at)?,
                "(" if WITH_PARENTHESES.contains(&before) => at = close_of(self.tokens, at)?,
                "(" => {
                    let named =
                        at > start && (self.tokens[at - 1].kind == Kind::Word || before == ">");
                    return named.then_some(at);
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The braces of a function's body, if one follows its parameters.
    fn body(&self, after: usize) -> Option<(usize, usize)> {
        let mut at = after;
        let mut initialisers = false;
        while at < self.tokens.len() {
            match self.text(at) {
                ";" | "=" | "}" => return None,
                ":" => initialisers = true,
                "(" | "[" => at = close_of(self.tokens, at)?,
                // `: member{1} {`: braces behind a member's name initialise it.
                "{" if initialisers && self.tokens[at - 1].kind == Kind::Word => {
                    at = close_of(self.tokens, at)?;
                }
                "{" => return Some((at, close_of(self.tokens, at)?)),
                _ => {}
            }
            at += 1;
        }
        None
    }
}
