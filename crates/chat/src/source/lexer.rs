//! The tags of a template and their tokens, cut exactly as the engine cuts them: what this lexer
//! takes for text, the engine must not take for code.

use super::rewrite::Refusal;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Name,
    Text,
    Number,
    Sign,
}

/// A token of a tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind,
    pub(super) text: &'s str,
    /// Where it begins, in bytes from the source's beginning.
    pub(super) at: usize,
}

impl Token<'_> {
    pub(super) fn end(&self) -> usize {
        self.at + self.text.len()
    }
}

/// A tag that the engine reads.
#[derive(Debug)]
pub(super) struct Tag<'s> {
    /// `{{ … }}`, and not `{% … %}`.
    pub(super) prints: bool,
    pub(super) tokens: Vec<Token<'s>>,
    /// Where the last token ends, at the latest.
    pub(super) end: usize,
}

/// Walks a source from tag to tag.
pub(super) struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Lexer<'s> {
        Lexer { source, at: 0 }
    }

    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    /// The next tag; comments and raw blocks are passed over.
    pub(super) fn next_tag(&mut self) -> Result<Option<Tag<'s>>, Refusal> {
        loop {
            let rest = self.rest();
            let open = rest.match_indices('{').map(|(at, _)| at);
            let Some(open) = { open }.find(|at| rest[at + 1..].starts_with(['{', '%', '#'])) else {
                return Ok(None);
            };
            self.at += open;
            let sort = rest.as_bytes()[open + 1];
            let signed = rest[open + 2..].starts_with(['-', '+']);
            let inside = self.at + 2 + usize::from(signed);
            match sort {
                b'#' => {
                    let end = self.source[inside..].find("#}");
                    let Some(end) = end else {
                        return Err(Refusal::syntax(self.at, "unexpected end of comment"));
                    };
                    self.at = inside + end + 2;
                }
                b'%' => match basic_tag(&self.source[inside..], "raw") {
                    Some(length) => self.pass_raw(inside + length)?,
                    None => return self.tag(inside, "%}").map(Some),
                },
                _ => return self.tag(inside, "}}").map(Some),
            }
        }
    }

    fn pass_raw(&mut self, start: usize) -> Result<(), Refusal> {
        for (at, open) in self.source[start..].match_indices("{%") {
            let inside = &self.source[start + at + open.len()..];
            let named = inside.strip_prefix(['-', '+']).unwrap_or(inside);
            if let Some(length) = basic_tag(named, "endraw") {
                self.at = self.source.len() - named.len() + length;
                return Ok(());
            }
        }
        Err(Refusal::syntax(self.at, "unexpected end of raw block"))
    }

    fn tag(&mut self, inside: usize, close: &str) -> Result<Tag<'s>, Refusal> {
        let prints = close == "}}";
        self.at = inside;
        let (mut tokens, mut depth) = (Vec::new(), 0_usize);
        loop {
            self.at += self.rest().len() - self.rest().trim_ascii_start().len();
            let rest = self.rest();
            let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
            if depth == 0 && (rest.starts_with(close) || unsigned.starts_with(close)) {
                let end = self.at;
                self.at = self.source.len()
                    - rest
                        .strip_prefix(close)
                        .map_or_else(|| unsigned.len() - close.len(), str::len);
                return Ok(Tag { prints, tokens, end });
            }
            let token = self.token()?;
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    let unbalanced = || Refusal::syntax(token.at, "unexpected closing bracket");
                    depth = depth.checked_sub(1).ok_or_else(unbalanced)?;
                }
                _ => {}
            }
            tokens.push(token);
        }
    }

    fn token(&mut self) -> Result<Token<'s>, Refusal> {
        let (rest, at) = (self.rest(), self.at);
        let Some(&first) = rest.as_bytes().first() else {
            return Err(Refusal::syntax(at, "unexpected end of input, expected end of block"));
        };
        let pair = ["//", "**", "==", "!=", ">=", "<="].into_iter().find(|p| rest.starts_with(p));
        let (kind, length) = match first {
            _ if pair.is_some() => (Kind::Sign, 2),
            b'\'' | b'"' => {
                let endless = || Refusal::syntax(at, "unexpected end of string");
                (Kind::Text, quoted(rest.as_bytes()).ok_or_else(endless)?)
            }
            b'0'..=b'9' => (Kind::Number, number(rest, self.source[..at].ends_with('.'))),
            _ if name(rest) > 0 => (Kind::Name, name(rest)),
            _ if b"+-*/%.,:~|=><()[]{}".contains(&first) => (Kind::Sign, 1),
            _ => return Err(Refusal::syntax(at, "unexpected character")),
        };
        self.at += length;
        Ok(Token { kind, text: &rest[..length], at })
    }
}

/// Length of `name %}` with its white space and sign, after `{%`.
fn basic_tag(inside: &str, name: &str) -> Option<usize> {
    let rest = inside.trim_ascii_start().strip_prefix(name)?.trim_ascii_start();
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    Some(inside.len() - rest.strip_prefix("%}")?.len())
}

fn quoted(bytes: &[u8]) -> Option<usize> {
    let (&quote, rest) = bytes.split_first()?;
    let mut escaped = false;
    let length = rest.iter().position(|&byte| {
        let ends = byte == quote && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(length + 2)
}

fn name(rest: &str) -> usize {
    let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    rest.find(|c| !part(c)).unwrap_or(rest.len())
}

/// Length of a number; after a dot it is an index and has no fraction.
fn number(rest: &str, is_index: bool) -> usize {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Radix,
        Integer,
        Fraction,
        Exponent,
        Signed,
    }
    let bytes = rest.as_bytes();
    let radix = bytes.len() > 1 && bytes[0] == b'0' && b"bBoOxX".contains(&bytes[1]);
    let is_hex = radix && bytes[1].eq_ignore_ascii_case(&b'x');
    let (mut at, mut state) = if radix { (2, State::Radix) } else { (0, State::Integer) };
    at += bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    while let Some(&byte) = bytes.get(at) {
        state = match (byte, state) {
            (b'.', State::Integer) if !is_index => {
                let exponent = matches!(bytes.get(at + 1), Some(b'e' | b'E'))
                    && matches!(bytes.get(at + 2), Some(b'+' | b'-' | b'0'..=b'9'));
                if !exponent && name(&rest[at + 1..]) > 0 {
                    break;
                }
                State::Fraction
            }
            (b'e' | b'E', State::Integer | State::Fraction) => State::Exponent,
            (b'+' | b'-' | b'0'..=b'9', State::Exponent) => State::Signed,
            (b'a'..=b'f' | b'A'..=b'F', State::Radix) if is_hex => state,
            (b'0'..=b'9' | b'_', state) => state,
            _ => break,
        };
        at += 1;
    }
    at
}
