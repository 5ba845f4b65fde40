//! Statements, by the engine's grammar, and what is changed in the source on the way.

use std::ops::Range;

use super::HOLD;
use super::expression::Part;
use super::lexer::{Kind, Lexer, Tag, Token};
use crate::Error;

/// Why a source is not passed on.
#[derive(Debug, Clone)]
pub(super) enum Refusal {
    Syntax { at: usize, message: String },
    TooDeep { at: usize, found: usize },
}

impl Refusal {
    pub(super) fn syntax(at: usize, message: impl Into<String>) -> Refusal {
        Refusal::Syntax { at, message: message.into() }
    }

    pub(super) fn explain(self, source: &str, limit: usize) -> Error {
        let line = |at: usize| 1 + source[..at].matches('\n').count();
        match self {
            Refusal::Syntax { at, message } => Error::Syntax { line: line(at), message },
            Refusal::TooDeep { at, found } => Error::SyntaxTooDeep { line: line(at), found, limit },
        }
    }
}

/// The source with its tags rewritten.
///
/// # Errors
/// Where a tag does not parse, or is deeper than `limit` levels.
pub(super) fn rewrite(source: &str, limit: usize) -> Result<String, Refusal> {
    let mut rewriter = Rewriter::new(limit);
    let mut lexer = Lexer::new(source);
    while let Some(tag) = lexer.next_tag()? {
        rewriter.tag(tag)?;
    }
    Ok(rewriter.write(source))
}

/// Reads tags and notes what to write between and instead of their tokens.
pub(super) struct Rewriter<'s> {
    limit: usize,
    tokens: Vec<Token<'s>>,
    next: usize,
    /// Where the tag ends.
    end: usize,
    /// What to write where. At one place everything is of one kind: opening brackets, or what
    /// closes them, the inner first, or a word instead of another.
    edits: Vec<(Range<usize>, &'static str)>,
    /// Open statements, and how many levels each stands for.
    open: Vec<(&'s str, usize)>,
    /// Levels of all open statements.
    nesting: usize,
    /// Levels of brackets and prefixes around the token that is read.
    pub(super) level: usize,
}

impl<'s> Rewriter<'s> {
    fn new(limit: usize) -> Rewriter<'s> {
        Rewriter {
            limit,
            tokens: Vec::new(),
            next: 0,
            end: 0,
            edits: Vec::new(),
            open: Vec::new(),
            nesting: 0,
            level: 0,
        }
    }

    fn write(mut self, source: &str) -> String {
        self.edits.sort_by_key(|(place, _)| place.start);
        let added: usize = self.edits.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(source.len() + added);
        let mut from = 0;
        for (place, text) in self.edits {
            out.push_str(&source[from..place.start]);
            out.push_str(text);
            from = place.end;
        }
        out.push_str(&source[from..]);
        out
    }

    pub(super) fn insert(&mut self, at: usize, text: &'static str) {
        self.edits.push((at..at, text));
    }

    fn replace(&mut self, token: Token<'s>, text: &'static str) {
        self.edits.push((token.at..token.end(), text));
    }

    /// How many places have been changed so far.
    pub(super) fn edited(&self) -> usize {
        self.edits.len()
    }

    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.tokens.get(self.next).copied()
    }

    pub(super) fn take(&mut self) -> Result<Token<'s>, Refusal> {
        let Some(token) = self.peek() else {
            return Err(Refusal::syntax(self.end, "unexpected end of block"));
        };
        self.next += 1;
        Ok(token)
    }

    pub(super) fn is_next(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.kind != Kind::Text && token.text == text)
    }

    /// Takes the next token if it is `text`.
    pub(super) fn skip(&mut self, text: &str) -> bool {
        let found = self.is_next(text);
        self.next += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Result<Token<'s>, Refusal> {
        let token = self.take()?;
        if token.kind == Kind::Text || token.text != text {
            return Err(unexpected(token, text));
        }
        Ok(token)
    }

    pub(super) fn expect_name(&mut self) -> Result<Token<'s>, Refusal> {
        let token = self.take()?;
        if token.kind == Kind::Name { Ok(token) } else { Err(unexpected(token, "a name")) }
    }

    /// The token before the next one.
    pub(super) fn last(&self) -> Option<Token<'s>> {
        self.next.checked_sub(1).map(|last| self.tokens[last])
    }

    /// Where that token ends.
    pub(super) fn last_end(&self) -> usize {
        self.last().map_or(self.end, |token| token.end())
    }

    /// `depth` if a syntax of so many levels may stand here.
    pub(super) fn check(&self, depth: usize) -> Result<usize, Refusal> {
        let found = depth + self.nesting;
        if found > self.limit {
            let at = self.peek().map_or(self.end, |token| token.at);
            return Err(Refusal::TooDeep { at, found });
        }
        Ok(depth)
    }

    fn tag(&mut self, tag: Tag<'s>) -> Result<(), Refusal> {
        (self.tokens, self.next, self.end) = (tag.tokens, 0, tag.end);
        if tag.prints {
            self.expression()?;
        } else {
            self.statement()?;
        }
        self.peek().map_or(Ok(()), |token| Err(unexpected(token, "end of block")))
    }

    fn statement(&mut self) -> Result<(), Refusal> {
        let keyword = self.expect_name()?;
        match keyword.text {
            "for" => self.for_loop()?,
            "if" => self.disjunction().map(|_| ())?,
            "elif" => {
                self.disjunction()?;
                self.nesting += 1;
                self.check(0)?;
                let top = self.open.last_mut().filter(|(opener, _)| *opener == "if");
                top.ok_or_else(|| unexpected(keyword, "a statement"))?.1 += 1;
                return Ok(());
            }
            "set" if !self.set()? => return Ok(()),
            "set" => {}
            "with" => self.with()?,
            "generation" => self.replace(keyword, "with _=none"),
            "macro" => {
                self.expect_name()?;
                self.expect("(")?;
                self.parameters()?;
            }
            "call" => {
                if self.skip("(") {
                    self.parameters()?;
                }
                self.expression()?;
            }
            "filter" => self.filter_chain().map(|_| ())?,
            "autoescape" => self.expression().map(|_| ())?,
            "block" => self.names()?,
            "do" => return self.expression().map(|_| ()),
            "include" | "import" | "from" | "extends" => {
                self.expression()?;
                return self.names();
            }
            "else" | "break" | "continue" => return Ok(()),
            other => {
                let Some(closed) = other.strip_prefix("end") else {
                    return Err(Refusal::syntax(keyword.at, format!("unknown statement {other}")));
                };
                let top = self.open.pop().filter(|(opener, _)| *opener == closed);
                self.nesting -= top.ok_or_else(|| unexpected(keyword, "a statement"))?.1;
                if closed == "generation" {
                    self.replace(keyword, "endwith");
                }
                return self.names();
            }
        }
        self.open.push((keyword.text, 1));
        self.nesting += 1;
        self.check(0).map(drop)
    }

    /// Names and commas, as many as there are.
    fn names(&mut self) -> Result<(), Refusal> {
        while self.peek().is_some() {
            if !self.skip(",") {
                self.expect_name()?;
            }
        }
        Ok(())
    }

    fn for_loop(&mut self) -> Result<(), Refusal> {
        self.target()?;
        self.expect("in")?;
        self.disjunction()?;
        if self.skip("if") {
            self.expression()?;
        }
        self.skip("recursive");
        Ok(())
    }

    /// What is assigned to: names, attributes, and lists of them. True where it names an attribute.
    fn target(&mut self) -> Result<bool, Refusal> {
        let (mut depth, mut dots) = (0_usize, 0);
        while let Some(token) = self.peek() {
            match token.text {
                "(" => depth = self.check(depth + 1)?,
                ")" if depth == 0 => break,
                ")" => depth -= 1,
                "." => dots = self.check(dots + 1)?,
                "," => {}
                "in" => break,
                _ if token.kind != Kind::Name => break,
                _ => {}
            }
            self.next += 1;
        }
        Ok(dots > 0)
    }

    /// True for a block whose text is assigned.
    fn set(&mut self) -> Result<bool, Refusal> {
        let is_attribute = self.target()?;
        if self.is_next("|") || self.peek().is_none() {
            if self.skip("|") {
                let chain = self.filter_chain()?;
                if is_attribute {
                    self.insert(chain.to, "|");
                    self.insert(chain.to, HOLD);
                }
            }
            return Ok(true);
        }
        self.expect("=")?;
        let mut value = self.expression()?;
        if self.is_next(",") {
            while self.skip(",") && self.peek().is_some() {
                let item = self.expression()?;
                value.depth = self.check(1 + value.depth.max(item.depth))?;
            }
            value.to = self.last_end();
            value.is_simple = false;
            self.wrap(value, HOLD);
        } else if is_attribute && value.may_be_list && !value.is_brief {
            self.wrap(value, HOLD);
        }
        Ok(false)
    }

    fn with(&mut self) -> Result<(), Refusal> {
        let mut first = true;
        while self.peek().is_some() {
            if !first {
                self.expect(",")?;
            }
            first = false;
            if self.skip("(") {
                self.target()?;
                self.expect(")")?;
            } else {
                self.expect_name()?;
            }
            self.expect("=")?;
            self.expression()?;
        }
        Ok(())
    }

    /// A macro's parameters, after the opening bracket.
    fn parameters(&mut self) -> Result<(), Refusal> {
        while !self.skip(")") {
            self.expect_name()?;
            if self.skip("=") {
                self.expression()?;
            }
            if !self.is_next(")") {
                self.expect(",")?;
            }
        }
        Ok(())
    }

    /// Filters without what they are applied to, to the tag's end.
    fn filter_chain(&mut self) -> Result<Part, Refusal> {
        let at = self.peek().map_or(self.end, |token| token.at);
        let mut chain = Part::new(at, at);
        while self.peek().is_some() {
            self.filter(&mut chain)?;
            if self.peek().is_some() {
                self.expect("|")?;
            }
        }
        Ok(chain)
    }
}

pub(super) fn unexpected(token: Token<'_>, expected: &str) -> Refusal {
    let text: String = token.text.chars().take(32).collect();
    Refusal::syntax(token.at, format!("unexpected `{text}`, expected {expected}"))
}
