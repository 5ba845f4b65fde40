use super::*;

fn packages(rows: &[(&str, &[&str])]) -> Packages {
    let owned = |tools: &[&str]| tools.iter().map(|tool| (*tool).to_owned()).collect();
    rows.iter().map(|(name, tools)| ((*name).to_owned(), owned(tools))).collect()
}

#[test]
fn only_ring_may_need_a_c_compiler() {
    assert!(check(&packages(&[("ring", &["cc"]), ("serde", &["version_check"])])).is_empty());
    let findings = check(&packages(&[("onig_sys", &["cc"])]));
    assert!(findings[0].message.contains("`onig_sys` builds with `cc`"), "{findings:?}");
}

#[test]
fn the_number_of_packages_is_limited() {
    let mut many: Packages = (0..190).map(|n| (format!("p{n}"), Vec::new())).collect();
    assert!(check(&many).is_empty());
    many.insert("one-more".to_owned(), Vec::new());
    assert_eq!(check(&many).len(), 1);
}

#[test]
fn the_command_is_read_from_the_real_metadata() {
    let found = read(&metadata().unwrap()).unwrap();
    assert!(found.contains_key("minfer-engine") && found.contains_key("clap"));
    assert!(!found.contains_key("xtask") && !found.contains_key("proptest"));
}
