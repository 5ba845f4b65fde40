use super::*;

fn findings(from: &str, to: &str, only_tests: bool) -> usize {
    check(&[Edge { from: from.to_owned(), to: to.to_owned(), only_tests }]).len()
}

#[test]
fn named_crates_and_what_lies_under_them_may_be_used() {
    assert_eq!(findings("plan", "graph", false), 0);
    assert_eq!(findings("plan", "quant", false), 0);
    assert_eq!(findings("cli", "gguf", false), 0);
}

#[test]
fn other_edges_are_found() {
    assert_eq!(findings("graph", "plan", false), 1);
    assert_eq!(findings("models", "plan", false), 1);
    assert_eq!(findings("backend-cpu", "models", false), 1);
    assert_eq!(findings("sample", "graph", false), 1);
    assert_eq!(findings("newcomer", "quant", false), 1);
}

#[test]
fn tests_may_use_more() {
    assert_eq!(findings("backend-cpu", "conformance", false), 1);
    assert_eq!(findings("backend-cpu", "conformance", true), 0);
    assert_eq!(findings("backend-cpu", "reference", true), 0);
    assert_eq!(findings("plan", "conformance", true), 1);
}

#[test]
fn the_table_has_no_cycle() {
    for (name, named) in MAY_USE {
        assert!(!reach(named).contains(name), "{name}");
    }
}

#[test]
fn packages_lie_in_folders_of_their_name() {
    assert_eq!(folder("minfer"), "cli");
    assert_eq!(folder("minfer-backend-cpu"), "backend-cpu");
    assert_eq!(folder("metal-sim"), "metal-sim");
}
