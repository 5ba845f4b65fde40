//! Tokens of C++ text, each with its place.
//!
//! Reads both what a preprocessor wrote and a raw source: line markers and `#line` directives set
//! the place, comments separate, `#pragma` lines are tokens of their own, other directives are
//! passed over. Not a compiler's lexer: `>` is always a token by itself, so that nested template
//! arguments close one by one.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Word,
    Number,
    /// A string, with its quotes.
    Text,
    Character,
    Punctuation,
    /// A whole `#pragma` line.
    Pragma,
}

/// A token. Lines and columns count from one, columns in bytes as clang's do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Index into [`Lexed::files`].
    pub file: usize,
    pub line: u32,
    pub column: u32,
    /// Whether space stands before it.
    pub spaced: bool,
}

/// A text in tokens.
#[derive(Debug)]
pub(crate) struct Lexed<'a> {
    pub tokens: Vec<Token<'a>>,
    pub files: Vec<String>,
}

/// Punctuation of more than one character that matters here: none may begin with `>`.
const JOINED: [&str; 18] = [
    "::", "->", "<<", "++", "--", "&&", "||", "==", "!=", "<=", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=",
];

/// Splits `text`, whose first line is line one of `file`.
pub(crate) fn lex<'a>(text: &'a str, file: &str) -> Lexed<'a> {
    let mut lexer = Lexer {
        text,
        at: 0,
        line_start: 0,
        line: 1,
        file: 0,
        spaced: true,
        lexed: Lexed { tokens: Vec::new(), files: vec![file.to_owned()] },
    };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.lexed
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line_start: usize,
    line: u32,
    file: usize,
    spaced: bool,
    lexed: Lexed<'a>,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self) {
        let rest = self.rest();
        let first = rest.as_bytes()[0];
        if first == b'\n' {
            self.skip(1);
        } else if first.is_ascii_whitespace() {
            self.at += 1;
            self.spaced = true;
        } else if rest.starts_with("\\\n") {
            self.skip(2);
        } else if rest.starts_with("//") {
            self.skip(logical_line(rest));
        } else if rest.starts_with("/*") {
            self.skip(rest.find("*/").map_or(rest.len(), |end| end + 2));
        } else if first == b'#' && self.text[self.line_start..self.at].trim().is_empty() {
            self.directive();
        } else {
            self.token(first);
        }
    }

    /// Passes over `len` bytes of space and comments.
    fn skip(&mut self, len: usize) {
        let end = self.at + len;
        while let Some(newline) = self.text[self.at..end].find('\n') {
            self.at += newline + 1;
            self.line += 1;
            self.line_start = self.at;
        }
        self.at = end;
        self.spaced = true;
    }

    fn directive(&mut self) {
        let rest = self.rest();
        let len = logical_line(rest);
        let body = rest[1..len].trim();
        let marker = body.strip_prefix("line ").unwrap_or(body).trim_start();
        if marker.starts_with(|c: char| c.is_ascii_digit()) {
            let digits = marker.find(|c: char| !c.is_ascii_digit()).unwrap_or(marker.len());
            let number = marker[..digits].parse::<u32>().unwrap_or(1);
            if let Some(name) = quoted(&marker[digits..]) {
                self.file = self.file_index(name);
            }
            self.skip(len);
            // The marker numbers the line after itself.
            self.line = number.saturating_sub(1);
        } else if body.starts_with("pragma") {
            self.push(Kind::Pragma, len);
            self.line += u32::try_from(rest[..len].matches('\n').count()).unwrap_or(0);
        } else {
            self.skip(len);
        }
    }

    fn file_index(&mut self, name: String) -> usize {
        if let Some(known) = self.lexed.files.iter().position(|file| *file == name) {
            return known;
        }
        self.lexed.files.push(name);
        self.lexed.files.len() - 1
    }

    fn token(&mut self, first: u8) {
        let rest = self.rest();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if first.is_ascii_digit()
            || (first == b'.' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit))
        {
            self.push(Kind::Number, number(rest));
        } else if first == b'_' || first.is_ascii_alphabetic() || first >= 0x80 {
            let len = rest.find(|c| !word(c)).unwrap_or(rest.len());
            // A lone character that begins no word, such as a typographic quote, is punctuation.
            match len {
                0 => self.push(Kind::Punctuation, rest.chars().next().map_or(1, char::len_utf8)),
                len => self.push(Kind::Word, len),
            }
        } else if first == b'"' {
            self.push(Kind::Text, literal(rest, b'"'));
        } else if first == b'\'' {
            self.push(Kind::Character, literal(rest, b'\''));
        } else {
            let joined = JOINED.iter().find(|joined| rest.starts_with(**joined));
            self.push(Kind::Punctuation, joined.map_or(1, |joined| joined.len()));
        }
    }

    fn push(&mut self, kind: Kind, len: usize) {
        let column = self.at - self.line_start + 1;
        self.lexed.tokens.push(Token {
            kind,
            text: &self.text[self.at..self.at + len],
            file: self.file,
            line: self.line,
            column: u32::try_from(column).unwrap_or(u32::MAX),
            spaced: self.spaced,
        });
        self.at += len;
        self.spaced = false;
    }
}

/// Bytes up to the end of a line; a backslash at its end continues it.
fn logical_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(newline) = text[from..].find('\n') {
        let end = from + newline;
        if !text[..end].ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

/// The name in a line marker.
fn quoted(text: &str) -> Option<String> {
    let inside = text.trim_start().strip_prefix('"')?;
    let mut name = String::new();
    let mut letters = inside.chars();
    loop {
        match letters.next()? {
            '"' => return Some(name),
            '\\' => name.push(letters.next()?),
            letter => name.push(letter),
        }
    }
}

/// Bytes of a number: digits, letters, points, signs of exponents.
fn number(text: &str) -> usize {
    let mut before = b'0';
    for (at, byte) in text.bytes().enumerate() {
        let sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
        let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        let exponent = sign && !(hexadecimal && matches!(before, b'e' | b'E'));
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || exponent) {
            return at;
        }
        before = byte;
    }
    text.len()
}

/// Bytes of a quoted literal; one that does not close ends with its line.
fn literal(text: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'\n' => return at,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
#[path = "lexer_tests.rs"]
mod tests;
