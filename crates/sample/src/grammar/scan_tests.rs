use super::scan::{Shape, json, regex};
use super::scan_lark;

fn lark(text: &[u8]) -> Shape {
    scan_lark::lark(text).shape
}

#[track_caller]
fn check(found: Shape, depth: usize, rules: usize, repeat: u64) {
    let operators = found.operators;
    assert_eq!(found, Shape { depth, rules, repeat, operators });
}

#[test]
fn json_counts_brackets_outside_strings() {
    check(json(br#"{"a": [[1], {"b": "[[[{{{\"["}]}"#), 3, 2, 0);
    check(json(b"\"unclosed [[["), 0, 0, 0);
    check(json(b"}}}]]][{"), 2, 1, 0);
}

#[test]
fn regex_multiplies_nested_repeats_only() {
    check(regex(b"(a{3}b{5}){7}"), 1, 0, 35);
    check(regex(b"a{1000}5{1000}"), 0, 0, 1000);
    check(regex(b"(?:(?:a{10}){10,20}){30}"), 2, 0, 6000);
    check(regex(b"a{3}{4}"), 0, 0, 12);
    check(regex(b"(a{3}b)+{4}"), 1, 0, 12);
    check(regex(b"a{99999999999999999999}"), 0, 0, u64::MAX);
}

#[test]
fn regex_skips_escapes_and_classes() {
    check(regex(br"\((\)\{9\}[({9}[x]\]]a)"), 2 + 1, 0, 0);
    check(regex(b"[]({9}]"), 1, 0, 0);
    check(regex(b"[^](]((x))"), 2, 0, 0);
    check(regex(b"a{b}{,x"), 0, 0, 1);
}

#[test]
fn lark_counts_definitions_and_looks_into_expressions() {
    check(lark(b"start: a b\na: \"x\"\nB: /y{20}(z)/\n"), 1, 3, 20);
    check(lark(b"start: (\"(((\" | /[(]/) ~ 2..40\n"), 2, 1, 40);
    check(lark(b"start: a{5,600} // ((((\n# [[[[\na: <|(((|> \"\\\"(\"\n"), 1, 2, 600);
    check(lark(b"start: %json { \"a\": [1, {\"b:\": \":\"}] }\n"), 3, 3, 0);
}

#[test]
fn a_quote_in_a_special_token_or_comment_opens_no_string() {
    check(lark(b"start: <\"> ((a))\n"), 2, 1, 0);
    check(lark(b"// \"\nstart: ((a))\n"), 2, 1, 0);
    check(lark(b"start: /\"/ ((a))\n"), 2, 1, 0);
}

#[test]
fn operators_are_weighed() {
    assert_eq!(regex(br"a?b*c+|d.\w[\d\s]x{3}\p{L}").operators, 3 + 2 + 1 + 2 + 16 + 1);
    assert_eq!(regex(b"plain text").operators, 0);
    assert_eq!(lark(b"start: a? | B\na: \"x?\"\nB: C C /y*/\nC: /z+/\n").operators, 2 + 5 + 1);
}

#[test]
fn terminals_are_written_out() {
    let mut text = "start: R0\n".to_owned();
    for index in 0..200 {
        text += &format!("R{index}: R{0} R{0}\n", index + 1);
    }
    text += "R200: /a?/\n";
    assert_eq!(lark(text.as_bytes()).operators, usize::MAX);
    // A chain as long as it likes is linear work, and a cycle ends.
    let chain: String = (0..9_000).map(|i| format!("R{i}: R{}\n", i + 1)).collect();
    assert!(lark(chain.as_bytes()).operators > 9_000);
    assert!(lark(b"A: B\nB: A\n").operators > 0);
}

#[test]
fn inline_schemas_and_grammars_are_found() {
    let found = scan_lark::lark(b"start: %json {\"a\": \"}\"} b %json true\n");
    assert_eq!(found.schemas, [b" {\"a\": \"}\"}".as_slice(), b" t"]);
    assert!(!found.nested);
    assert!(scan_lark::lark(b"start: %lark { start: a }\n").nested);
    assert!(!scan_lark::lark(b"start: \"%lark %json\" // %lark\n").nested);
}
