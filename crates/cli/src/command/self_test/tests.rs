use std::collections::BTreeMap;

use super::tune_of;

#[test]
fn the_table_is_read_from_a_report() {
    let text = r#"{"device": "x", "tune": {"matmul.few_rows": 4}}"#;
    assert_eq!(tune_of(text).unwrap(), BTreeMap::from([("matmul.few_rows".to_owned(), 4)]));
    let refused = |text: &str| tune_of(text).unwrap_err();
    assert!(refused("{").contains("EOF"));
    assert!(refused("[1]").contains("expected an object \"tune\""));
    let error = refused(r#"{"tune": {"matmul.few_rows": -1}}"#);
    assert_eq!(error, "line 1: matmul.few_rows: expected a number, found -1");
    let choice = r#"{"choice": "matmul.few_rows","#;
    let error = refused(&format!("{choice}\n\"tune\": {{\n\"matmul.few_rows\": 9}}}}"));
    assert_eq!(error, "line 3: expected matmul.few_rows from 1 to 8, found 9");
    let error = refused("{\n\"tune\": {\n\n\"other\": 9}}");
    assert!(error.starts_with("line 4: expected matmul.few_rows, matmul.simdgroups"), "{error}");
}
