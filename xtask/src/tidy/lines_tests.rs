use super::*;

const NONE: [(&str, usize); 0] = [];

fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let findings = check(&Source::new(path, text));
    findings.into_iter().map(|finding| (finding.rule, finding.line)).collect()
}

#[test]
fn long_lines_are_found_in_code_only() {
    let text = format!("//! Docs.\n// {}\n", "é".repeat(98));
    assert_eq!(rules("a/src/x.rs", &text), [("columns", 2)]);
    assert_eq!(rules("a/x.md", &text), NONE);
    let text = format!("//! Docs.\n// {}\n", "é".repeat(97));
    assert_eq!(rules("a/src/x.rs", &text), NONE);
}

#[test]
fn stray_spaces_are_found() {
    assert_eq!(rules("x.md", "a \nb\n"), [("spaces", 1)]);
    assert_eq!(rules("x.md", "a\n\tb\n"), [("spaces", 2)]);
    assert_eq!(rules("x.md", "a"), [("spaces", 0)]);
}

#[test]
fn modules_open_with_their_purpose() {
    assert_eq!(rules("a/src/x.rs", "fn f() {}\n"), [("module docs", 1)]);
    assert_eq!(rules("a/src/x.rs", "\n//! Docs.\n"), NONE);
    assert_eq!(rules("a/src/x.rs", "#![expect(unsafe_code)]\n//! Docs.\n"), NONE);
    assert_eq!(rules("a/src/x/tests.rs", "fn f() {}\n"), NONE);
    assert_eq!(rules("a/tests/it/main.rs", "fn f() {}\n"), NONE);
}
