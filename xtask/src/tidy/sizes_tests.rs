use super::*;

fn function(lines: usize) -> String {
    format!("/// Docs.\nfn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
}

#[test]
fn a_function_may_have_seventy_lines() {
    assert!(check(&Source::new("a/src/x.rs", &function(70))).is_empty());
    let findings = check(&Source::new("a/src/x.rs", &function(71)));
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].rule, findings[0].line), ("function size", 2));
    assert!(findings[0].message.contains("`long` has 71 lines"));
}

#[test]
fn methods_count_too() {
    let method = format!("impl A {{\n{}}}\n", function(80));
    assert_eq!(check(&Source::new("a/src/x.rs", &method)).len(), 1);
    let method = format!("trait A {{\n{}}}\n", function(80));
    assert_eq!(check(&Source::new("a/src/x.rs", &method)).len(), 1);
}

#[test]
fn files_have_limits_and_contents_pages_tighter_ones() {
    let text = "// line\n".repeat(600);
    assert!(check(&Source::new("a/src/x.rs", &text)).is_empty());
    assert_eq!(check(&Source::new("a/src/x.rs", &(text.clone() + "//\n"))).len(), 1);
    assert_eq!(check(&Source::new("a/src/lib.rs", &text)).len(), 1);
    assert!(check(&Source::new("a/notes.md", &(text + "//\n"))).is_empty());
}
