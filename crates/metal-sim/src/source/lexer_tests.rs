//! Places, joined punctuation, comments and directives.

use super::*;

fn texts(text: &str) -> Vec<String> {
    lex(text, "k").tokens.iter().map(|token| token.text.to_owned()).collect()
}

#[test]
fn places_count_from_one_in_bytes() {
    let lexed = lex("a  b\n\n  /* c\n */ d // e\nf", "k.metal");
    let places: Vec<_> = lexed.tokens.iter().map(|t| (t.text, t.line, t.column)).collect();
    assert_eq!(places, [("a", 1, 1), ("b", 1, 4), ("d", 4, 5), ("f", 5, 1)]);
}

#[test]
fn line_markers_and_line_directives_set_the_place() {
    let lexed = lex("# 7 \"dir/a b.h\" 1 3\nx\n#line 20\ny\n#line 3 \"q\\\"\"\nz", "k");
    let places: Vec<_> =
        lexed.tokens.iter().map(|t| (lexed.files[t.file].as_str(), t.line)).collect();
    assert_eq!(places, [("dir/a b.h", 7), ("dir/a b.h", 20), ("q\"", 3)]);
}

#[test]
fn angle_brackets_stay_single() {
    assert_eq!(texts("vec<vec<T>>"), ["vec", "<", "vec", "<", "T", ">", ">"]);
    assert_eq!(texts("a->b >>= c<<1"), ["a", "->", "b", ">", ">", "=", "c", "<<", "1"]);
}

#[test]
fn numbers_keep_their_exponents_and_suffixes() {
    assert_eq!(
        texts("1.5e-3f 0x1Fu .5h 1e+4 0xE+1 1'2"),
        ["1.5e-3f", "0x1Fu", ".5h", "1e+4", "0xE", "+", "1", "1", "'2"]
    );
}

#[test]
fn literals_hide_brackets_and_marks_of_comments() {
    assert_eq!(texts(r#""a // [[" '"' x"#), [r#""a // [[""#, "'\"'", "x"]);
    assert_eq!(texts("\"open\nx"), ["\"open", "x"]);
}

#[test]
fn pragmas_are_tokens_and_other_directives_are_not() {
    assert_eq!(texts("#define N \\\n 4\n  #pragma unroll(4)\nfor"), ["#pragma unroll(4)", "for"]);
}

#[test]
fn any_text_is_read_to_its_end() {
    for text in ["\u{a0}x", "/*", "\"", "'", "#", "# 1", "\\", "é”", "1.", "/"] {
        lex(text, "k");
    }
}
