use super::*;

#[test]
fn tokens_carry_their_lines_also_inside_macros() {
    let source = Source::new("a.rs", "fn f() {\n    m!(\n        x\n    );\n}\n");
    let x = source.tokens.iter().find(|token| token.text == "x").unwrap();
    assert_eq!(x.line, 3);
    let last = source.tokens.last().unwrap();
    assert_eq!((last.text.as_str(), last.line), ("}", 5));
}

#[test]
fn test_lines_are_those_of_test_items() {
    let text = "fn f() {}\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {}\n";
    let source = Source::new("crates/a/src/lib.rs", text);
    let tested: Vec<usize> = (1..=6).filter(|&line| source.is_test_line(line)).collect();
    assert_eq!(tested, [2, 3, 4, 5]);
    assert!(Source::new("crates/a/src/x_tests.rs", "").is_test_line(1));
    assert!(Source::new("crates/a/tests/it/main.rs", "").is_test_line(1));
}

#[test]
fn a_file_that_does_not_parse_is_a_finding() {
    assert!(Source::new("a.rs", "fn f( {").unreadable().is_some());
    assert!(Source::new("a.rs", "fn f() {}").unreadable().is_none());
    assert!(Source::new("a.md", "fn f( {").unreadable().is_none());
}

#[test]
fn crates_are_named_by_their_folder() {
    assert_eq!(Source::new("crates/quant/src/lib.rs", "").crate_name(), "quant");
    assert_eq!(Source::new("xtask/src/main.rs", "").crate_name(), "xtask");
}
