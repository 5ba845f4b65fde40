use super::*;

fn runs(name: &'static str, rates: &[f64]) -> Runs {
    Runs { name, rates: rates.to_vec() }
}

fn row(ours: &[f64]) -> Row {
    Row {
        file: "m.gguf".to_owned(),
        threads: 2,
        test: "tg64".to_owned(),
        goal: 0.9,
        runs: vec![runs("minfer", ours), runs("gcc", &[10.0]), runs("clang", &[20.0])],
    }
}

#[test]
fn the_median_is_the_middle() {
    assert_eq!(runs("a", &[9.0, 1.0, 5.0]).median(), 5.0);
    assert_eq!(runs("a", &[4.0, 1.0, 9.0, 2.0]).median(), 3.0);
}

#[test]
fn the_ratio_is_over_the_faster_peer() {
    assert_eq!(row(&[15.0]).ratio(), 0.75);
    assert!(row(&[15.0]).shortfall().unwrap().contains("0.75, goal 0.9"));
    assert!(row(&[18.0]).shortfall().is_none());
    assert!(row(&[]).shortfall().is_some(), "no number is no success");
}

#[test]
fn rates_are_read_from_both_rows() {
    let text = r#"[{"n_prompt":512,"n_gen":0,"avg_ts":100.5},
                   {"n_prompt":0,"n_gen":64,"avg_ts":20.25,"other":"x"}]"#;
    assert_eq!(rates(text).unwrap(), (100.5, 20.25));
    assert!(rates(r#"[{"n_prompt":512,"n_gen":0,"avg_ts":1.0}]"#).is_err());
    assert!(rates("nothing").is_err());
}

#[test]
fn the_table_has_a_column_for_each_program() {
    let text = page(&[row(&[15.0])], &["- gcc: AVX2".to_owned()], "Some CPU", 5);
    assert!(text.contains("| model | threads | test | minfer | gcc | clang | ratio | goal |"));
    assert!(text.contains("| m.gguf | 2 | tg64 | 15.0 | 10.0 | 20.0 | 0.75 | 0.9 |"), "{text}");
}

#[test]
fn only_what_is_between_the_marks_changes() {
    let page = format!("words\n{BEGIN}\nold\n{END}\nmore\n");
    let expected = format!("words\n{BEGIN}\nnew\n{END}\nmore\n");
    assert_eq!(between(&page, "new\n"), Some(expected));
    assert_eq!(between("words", "new\n"), None);
}
