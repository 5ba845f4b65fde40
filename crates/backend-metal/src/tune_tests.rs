use super::{CHOICES, Tune};

#[test]
fn a_table_changes_what_it_names() {
    assert_eq!(Tune::of([]).unwrap(), Tune::default());
    let tune = Tune::of([("matmul.few_rows", 4), ("rms_norm.short_cols", 0)]).unwrap();
    let expected = Tune { matmul_few_rows: 4, rms_norm_short_cols: 0, ..Tune::default() };
    assert_eq!(tune, expected);
    let values: Vec<u32> = tune.choices().iter().map(|choice| choice.value).collect();
    assert_eq!(values, [4, 2, 8, 0, 8]);
}

#[test]
fn a_wrong_table_is_refused_with_what_there_is() {
    let error = Tune::of([("matmul.rows", 4)]).unwrap_err();
    assert_eq!(error.found, "matmul.rows");
    assert!(
        error.expected.starts_with("matmul.few_rows, matmul.simdgroups, attention.few_rows"),
        "{error}"
    );
    let error = Tune::of([("matmul.few_rows", 9)]).unwrap_err();
    assert_eq!(error.to_string(), "expected matmul.few_rows from 1 to 8, found 9");
}

#[test]
fn every_value_that_is_measured_is_allowed_and_the_default_among_them() {
    for (row, choice) in CHOICES.iter().zip(Tune::default().choices()) {
        assert!(row.values.iter().all(|value| row.allowed.contains(value)), "{}", row.name);
        assert!(row.values.contains(&choice.value), "{}", row.name);
    }
}
