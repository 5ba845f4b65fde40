//! What the engine leaves unbounded, bounded in the source: the depth of the syntax, and the
//! operators whose results or operands nothing has paid for.
//!
//! The engine compiles and drops a long chain of operators by recursion, and some of its operators
//! give lists that are made up only when something walks them, outside of its fuel. So the source
//! is read once more here. Too deep a syntax is refused; the rest is written out with four filters
//! ([`OWN`], [`HOLD`], [`PAY`], [`PAY_TEXT`]; `python::held` defines them) around
//!
//! - sums, products and slices that may be lists, to make them up at once;
//! - lists and objects written out, to bound how deep they nest;
//! - operands of comparisons, of `in` and of `~`, keys, and what is cut out of a string, to pay for
//!   their size first.
//!
//! Filters cannot be renamed by a template, and a constant is not folded through one. What is
//! certainly a small constant stays as it is, so that an ordinary template gets few of them.

use super::expression::Part;
use super::lexer::{Kind, Lexer, Tag, Token};
use crate::Error;

/// Makes a list of what the engine would make up on the way.
pub(crate) const OWN: &str = "__own";
/// [`OWN`] all the way down, to a bounded depth.
pub(crate) const HOLD: &str = "__hold";
/// Pays for a comparison.
pub(crate) const PAY: &str = "__pay";
/// Pays for writing a value out as text.
pub(crate) const PAY_TEXT: &str = "__pay_text";

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

    fn explain(self, source: &str, limit: usize) -> Error {
        let line = |at: usize| 1 + source[..at].matches('\n').count();
        match self {
            Refusal::Syntax { at, message } => Error::Syntax { line: line(at), message },
            Refusal::TooDeep { at, found } => Error::SyntaxTooDeep { line: line(at), found, limit },
        }
    }
}

/// The source with bounds written in.
///
/// # Errors
/// [`Error::Syntax`], and [`Error::SyntaxTooDeep`] past `depth` levels.
pub(crate) fn bounded(source: &str, depth: usize) -> Result<String, Error> {
    let mut guard = Guard::new(depth);
    let mut lexer = Lexer::new(source);
    let mut read = || {
        while let Some(tag) = lexer.next_tag()? {
            guard.tag(tag)?;
        }
        Ok(())
    };
    read().map_err(|refusal: Refusal| refusal.explain(source, depth))?;
    Ok(guard.write(source))
}

/// Reads tags and notes what to write between their tokens.
pub(super) struct Guard<'s> {
    limit: usize,
    tokens: Vec<Token<'s>>,
    next: usize,
    /// Where the tag ends.
    end: usize,
    /// What to insert where. At one place everything is of one kind: opening brackets, or what
    /// closes them, the inner first.
    inserts: Vec<(usize, &'static str)>,
    /// Open statements, and how many levels each stands for.
    open: Vec<(&'s str, usize)>,
    /// Levels of all open statements.
    nesting: usize,
    /// Levels of brackets and prefixes around the token that is read.
    pub(super) level: usize,
}

impl<'s> Guard<'s> {
    fn new(limit: usize) -> Guard<'s> {
        Guard {
            limit,
            tokens: Vec::new(),
            next: 0,
            end: 0,
            inserts: Vec::new(),
            open: Vec::new(),
            nesting: 0,
            level: 0,
        }
    }

    fn write(mut self, source: &str) -> String {
        self.inserts.sort_by_key(|(at, _)| *at);
        let added: usize = self.inserts.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(source.len() + added);
        let mut from = 0;
        for (at, text) in self.inserts {
            out.push_str(&source[from..at]);
            out.push_str(text);
            from = at;
        }
        out.push_str(&source[from..]);
        out
    }

    pub(super) fn insert(&mut self, at: usize, text: &'static str) {
        self.inserts.push((at, text));
    }

    /// How much has been inserted so far.
    pub(super) fn inserted(&self) -> usize {
        self.inserts.len()
    }

    pub(super) fn peek(&self) -> Option<Token<'s>> {
        self.tokens.get(self.next).copied()
    }

    pub(super) fn take(&mut self) -> Result<Token<'s>, Refusal> {
        let token = self.peek().ok_or(Refusal::syntax(self.end, "unexpected end of block"))?;
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
                top.ok_or(unexpected(keyword, "a statement"))?.1 += 1;
                return Ok(());
            }
            "set" if !self.set()? => return Ok(()),
            "set" => {}
            "with" => self.with()?,
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
                self.nesting -= top.ok_or(unexpected(keyword, "a statement"))?.1;
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

    /// Filters without what they are applied to.
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
