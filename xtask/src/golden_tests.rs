use super::*;

#[test]
fn requirements_are_lines_without_comments() {
    let found: Vec<String> = requirements("# why\n\na==1  # here\nb==2\n").collect();
    assert_eq!(found, ["a==1", "b==2"]);
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = run(&["quants".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("quants") && error.contains("quant chat models"), "{error}");
}

#[test]
fn every_row_has_its_script_and_pinned_packages() {
    for golden in GOLDEN {
        assert!(root().join(golden.script).exists(), "{} is missing", golden.script);
        assert!(!packages(golden).unwrap().is_empty(), "{}", golden.name);
    }
}
