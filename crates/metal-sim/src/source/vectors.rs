//! Vectors and literals where C++ reads them otherwise than Metal.
//!
//! The headers make constructors macros, `float4(…)`. So `vec<T, N>(…)`, which no macro can match,
//! is spelt out; a declarator in parentheses behind a vector's name is kept from the macro; and a
//! C-style cast, which would reinterpret a vector where Metal converts it, becomes a conversion.
//! Suffixes that C++ does not leave to headers are respelt.

use super::declarations::{close_of, close_of_angle};
use super::lexer::{Kind, Token};
use super::lint::SPACES;
use super::rewrite::{Edit, spell};

const ELEMENTS: [&str; 12] = [
    "bfloat", "bool", "char", "float", "half", "int", "long", "short", "uchar", "uint", "ulong",
    "ushort",
];

/// Whether the word names a vector type.
fn is_vector(word: &str) -> bool {
    let word = word.strip_prefix("packed_").unwrap_or(word);
    let element = word.strip_suffix(['2', '3', '4']);
    element.is_some_and(|element| ELEMENTS.contains(&element))
}

/// Rewrites constructors, declarators, casts and literals.
pub(crate) fn rewrite(tokens: &[Token<'_>]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            number if token.kind == Kind::Number => {
                let text = literal(number);
                edits.extend(text.map(|text| Edit { tokens: at..at + 1, text }));
            }
            "vec" => edits.extend(constructor(tokens, at).into_iter().flatten()),
            "(" => edits.extend(cast(tokens, at)),
            word if token.kind == Kind::Word && is_vector(word) => {
                edits.extend(declarator(tokens, at));
            }
            _ => {}
        }
    }
    edits
}

/// `1.0bf` becomes `msim_make<bfloat>(1.0f)`, and `1.0H` `1.0h`.
fn literal(number: &str) -> Option<String> {
    if number.starts_with("0x") || number.starts_with("0X") {
        return None;
    }
    let digits = number.strip_suffix("bf").or_else(|| number.strip_suffix("BF"));
    let bfloat = digits.map(|digits| format!("msim_make<bfloat>({digits}f)"));
    bfloat.or_else(|| Some(format!("{}h", number.strip_suffix('H')?)))
}

/// `vec<T, 4>(` becomes `msim_make<vec<T, 4>>(`.
fn constructor(tokens: &[Token<'_>], at: usize) -> Option<[Edit; 2]> {
    let angle = close_of_angle(tokens, at + 1).filter(|_| text(tokens, at + 1) == "<")?;
    let start = if at >= 2 && tokens[at - 1].text == "::" { at - 2 } else { at };
    let before = start.checked_sub(1).map_or("", |before| tokens[before].text);
    let opens = text(tokens, angle + 1) == "(";
    if !opens || before == "operator" || declares(tokens, before, angle + 1) {
        return None;
    }
    let front = Edit { tokens: start..start, text: "msim_make<".to_owned() };
    Some([front, Edit { tokens: angle + 1..angle + 1, text: ">".to_owned() }])
}

/// `float4 (&x)[8]` and `operator float4()` keep their parentheses.
fn declarator(tokens: &[Token<'_>], at: usize) -> Option<Edit> {
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    let opens = text(tokens, at + 1) == "(";
    let keeps = opens && (before == "operator" || declares(tokens, before, at + 1));
    keeps.then(|| Edit { tokens: at + 1..at + 1, text: "MSIM_DECLARATOR".to_owned() })
}

/// Whether the parenthesis at `open` holds a name that is declared a reference or pointer.
fn declares(tokens: &[Token<'_>], before: &str, open: usize) -> bool {
    let qualified = SPACES.contains(&before) || ["const", "volatile"].contains(&before);
    let sign = ["&", "*"].contains(&text(tokens, open + 1))
        || SPACES.contains(&text(tokens, open + 1)) && ["&", "*"].contains(&text(tokens, open + 2));
    let after = close_of(tokens, open).map_or("", |close| text(tokens, close + 1));
    qualified && sign && ["[", "("].contains(&after)
}

/// `(float4)x` becomes `+(msim_cast<float4>)x`: the plus binds as a cast does.
fn cast(tokens: &[Token<'_>], open: usize) -> Option<Edit> {
    let close = (open + 2..=open + 4).find(|at| text(tokens, *at) == ")")?;
    let name = &tokens[open + 1..close];
    let known = match name {
        [word] => is_vector(word.text) || ["half", "bfloat"].contains(&word.text),
        [space, colons, word] => {
            space.text == "metal" && colons.text == "::" && is_vector(word.text)
        }
        _ => false,
    };
    let before = open.checked_sub(1).map(|before| &tokens[before]);
    let statement = ["return", "case", "else", "do"];
    let follows = before.is_none_or(|before| match before.kind {
        Kind::Word => statement.contains(&before.text),
        Kind::Punctuation => ![">", "]"].contains(&before.text),
        Kind::Pragma => true,
        Kind::Number | Kind::Text | Kind::Character => false,
    });
    let operand = tokens.get(close + 1).is_some_and(|next| match next.kind {
        Kind::Word => next.text != "const" && !SPACES.contains(&next.text),
        Kind::Number | Kind::Character => true,
        Kind::Punctuation => ["(", "-", "+", "~", "!", "*", "&"].contains(&next.text),
        Kind::Text | Kind::Pragma => false,
    });
    let text = || format!("+(msim_cast<{}>)", spell(name));
    (known && follows && operand).then(|| Edit { tokens: open..close + 1, text: text() })
}

fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}
