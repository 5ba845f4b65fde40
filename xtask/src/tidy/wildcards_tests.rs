use super::*;

fn lines(text: &str) -> Vec<usize> {
    check(&Source::new("a/src/x.rs", text)).iter().map(|finding| finding.line).collect()
}

fn arms(arms: &str) -> Vec<usize> {
    lines(&format!("fn f() {{\n    match x {{\n{arms}\n    }}\n}}\n"))
}

#[test]
fn catch_all_arms_over_closed_enums_are_found() {
    assert_eq!(arms("Op::Add(_) => 1,\n_ => 2,"), [4]);
    assert_eq!(arms("graph::Op::Rope { .. } => 1,\nother => 2,"), [4]);
    assert_eq!(arms("Quant::Q4_0 | Quant::Q4_1 => 1,\n_ => 2,"), [4]);
    assert_eq!(arms("Some(Quant::F32) => 1,\n_ => 2,"), [4]);
    assert_eq!(arms("(Quant::F32, 1) => 1,\n(_, _) => 2,"), [4]);
    assert_eq!(arms("op @ Op::Add(_) => 1,\n_ => 2,"), [4]);
}

#[test]
fn other_matches_are_free() {
    assert!(arms("Op::Add(_) => 1,\nOp::Mul(_) => 2,").is_empty());
    assert!(arms("Op::Add(_) => 1,\n_ if x => 3,\nOp::Mul(_) => 2,").is_empty());
    assert!(arms("DType::F32 => 1,\n_ => 2,").is_empty());
    assert!(arms("Ok(Op::Add(_)) => 1,\nOk(Op::Mul(_)) => 1,\nErr(error) => 2,").is_empty());
    assert!(arms("(Quant::F32, _) => 1,\n(Quant::F16, other) => 2,").is_empty());
}

#[test]
fn self_means_the_enum_inside_its_impl() {
    let text = "impl Quant {\nfn f(self) {\nmatch self {\nSelf::F32 => 1,\n_ => 2,\n}\n}\n}\n";
    assert_eq!(lines(text), [5]);
    assert!(lines(&text.replace("impl Quant", "impl DType")).is_empty());
}

#[test]
fn nested_matches_are_seen() {
    assert_eq!(arms("true => match op {\nOp::Add(_) => 1,\n_ => 2,\n},\nfalse => 1,"), [5]);
}

#[test]
fn variants_are_not_imported_by_glob() {
    assert_eq!(lines("use minfer_quant::Quant::*;\n"), [1]);
    assert_eq!(lines("use minfer_graph::{Op::*, Value};\n"), [1]);
    assert!(lines("use minfer_quant::Quant;\n").is_empty());
}
