//! Every case: canonical mode within the case's tolerance of the formula in f64.

use minfer_conformance::{Verdict, check_all};
use minfer_graph::OpKind;
use minfer_plan::Device;
use minfer_reference::{Mode, Reference};

#[test]
fn canonical_is_within_tolerance_of_f64() {
    let make = || -> Box<dyn Device> { Box::new(Reference::new(Mode::Canonical)) };
    let verdicts = check_all(&make, false, "");
    let failed: Vec<&String> = verdicts
        .iter()
        .filter_map(|(_, verdict)| match verdict {
            Verdict::Failed(text) => Some(text),
            Verdict::Passed | Verdict::Unsupported(_) => None,
        })
        .collect();
    let shown: Vec<_> = failed.iter().take(20).collect();
    assert!(failed.is_empty(), "{} of {} cases: {shown:#?}", failed.len(), verdicts.len());
    let passed = verdicts.iter().filter(|(_, v)| *v == Verdict::Passed).count();
    assert!(passed > 2000, "only {passed} cases ran");
}

#[test]
fn every_op_has_cases() {
    for &op in OpKind::ALL {
        assert!(!minfer_conformance::ops::cases(op).is_empty(), "{}", op.name());
    }
}

#[test]
fn case_names_are_unique() {
    let mut names: Vec<String> =
        minfer_conformance::ops::all().into_iter().map(|case| case.name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}
