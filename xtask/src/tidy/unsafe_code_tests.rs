use super::*;

const NONE: [(&str, usize); 0] = [];

fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
    let findings = check(&Source::new(path, text));
    findings.into_iter().map(|finding| (finding.rule, finding.line)).collect()
}

const MAP: &str = "crates/gguf/src/map.rs";

#[test]
fn unsafe_code_has_its_places() {
    let text = "fn f() {\n    // SAFETY: nothing is read.\n    unsafe { g() }\n}\n";
    for path in [
        MAP,
        "crates/backend-cpu/src/simd/avx2.rs",
        "crates/backend-cuda/src/sys/driver.rs",
        "crates/metal-sim/src/run.rs",
        "sim/device-layer/tests/it/layer.rs",
    ] {
        assert_eq!(rules(path, text), NONE, "{path}");
    }
    for path in ["crates/gguf/src/file.rs", "crates/backend-cpu/src/pool.rs", "xtask/src/main.rs"] {
        assert_eq!(rules(path, text), [("unsafe place", 3)], "{path}");
    }
}

#[test]
fn every_block_and_impl_has_a_reason() {
    assert_eq!(rules(MAP, "fn f() {\n    unsafe { g() }\n}\n"), [("unsafe reason", 2)]);
    assert_eq!(rules(MAP, "struct A;\nunsafe impl Send for A {}\n"), [("unsafe reason", 2)]);
    let statement = "fn f() {\n    // SAFETY: in bounds\n    // by the check.\n    let x =\n\
                     \x20       unsafe { g() };\n}\n";
    assert_eq!(rules(MAP, statement), NONE);
    let next = "fn f() {\n    // SAFETY: a.\n    unsafe { g() };\n    unsafe { h() };\n}\n";
    assert_eq!(rules(MAP, next), [("unsafe reason", 4)]);
}

#[test]
fn the_insides_of_macros_count() {
    let text = "macro_rules! m {\n    () => {\n        unsafe { g() }\n    };\n}\n";
    assert_eq!(rules("crates/plan/src/a.rs", text).len(), 2);
}

#[test]
fn an_unsafe_function_needs_no_comment_of_this_kind() {
    for kind in ["", "extern ", "extern \"C\" "] {
        let text = format!("/// # Safety\n/// A.\nunsafe {kind}fn f() {{}}\n");
        assert_eq!(rules(MAP, &text), NONE, "{kind}");
    }
    let foreign = "unsafe extern \"C\" {\n    fn f();\n}\n";
    assert_eq!(rules(MAP, foreign), [("unsafe reason", 1)]);
}
