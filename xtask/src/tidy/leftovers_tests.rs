use super::*;

fn found(path: &str, text: &str) -> usize {
    check(&Source::new(path, text)).len()
}

#[test]
fn each_leftover_is_found() {
    for text in ANYWHERE {
        assert_eq!(found("a/src/x.rs", &format!("    {text}\n")), 1, "{text}");
    }
    for word in WORDS {
        assert_eq!(found("a/src/x.rs", &format!("// {word}: later\n")), 1, "{word}");
        assert_eq!(found("a/src/x.rs", &format!("fn {word}X() {{}}\n")), 0, "{word}");
    }
}

#[test]
fn temporary_folders_are_for_tests() {
    assert_eq!(found("a/src/x.rs", "const A: &str = \"/tmp/x\";\n"), 1);
    assert_eq!(found("a/tests/x.rs", "const A: &str = \"/tmp/x\";\n"), 0);
}

#[test]
fn issue_numbers_are_found_in_what_people_read() {
    assert_eq!(found("a/src/x.rs", "// see #12\n"), 1);
    assert_eq!(found("a/src/x.rs", "// Issue 7 has it\n"), 1);
    assert_eq!(found("x.md", "as (#3) says\n"), 1);
    assert_eq!(found("a/src/x.rs", "format!(\"{:#06x} #12\")\n"), 0);
    assert_eq!(found("a/src/x.rs", "// written as `#12` or {:#06x}\n"), 0);
    assert_eq!(found("x.md", "a tissue 12 cells thick\n"), 0);
}
