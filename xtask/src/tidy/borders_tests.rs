use super::*;

const PLAN: &str = "crates/plan/src/x.rs";

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    check(&Source::new(path, text)).iter().map(|finding| finding.rule).collect()
}

#[test]
fn libraries_do_not_print() {
    let text = "fn f() { println!(\"a\"); }\n";
    assert_eq!(rules(PLAN, text), ["prints"]);
    assert!(rules("crates/cli/src/main.rs", text).is_empty());
    assert!(rules("crates/plan/tests/it/main.rs", text).is_empty());
    assert!(rules("crates/plan/examples/show.rs", text).is_empty());
    assert!(rules(PLAN, "#[cfg(test)]\nmod tests {\n fn f() { println!(\"a\"); }\n}\n").is_empty());
}

#[test]
fn libraries_do_not_read_the_environment() {
    assert_eq!(rules(PLAN, "fn f() { std::env::var(\"A\"); }\n"), ["environment"; 2]);
    assert_eq!(rules(PLAN, "use std::{env, io};\n"), ["environment"]);
    assert_eq!(rules(PLAN, "use std::{io::{self}, env};\n"), ["environment"]);
    assert!(rules(PLAN, "use std::{io::{env}, collections};\n").is_empty());
    assert!(rules(PLAN, "const A: &str = env!(\"CARGO_PKG_NAME\");\n").is_empty());
    assert!(rules("crates/backend-cuda/build.rs", "use std::env;\n").is_empty());
    assert!(rules("crates/backend-cuda/build/part.rs", "use std::fs;\n").is_empty());
    assert_eq!(rules("crates/graph/src/build.rs", "use std::env;\n"), ["environment"]);
}

#[test]
fn one_library_opens_files() {
    assert_eq!(rules(PLAN, "use std::fs::File;\n"), ["files"]);
    assert!(rules("crates/gguf/src/file.rs", "use std::fs::File;\n").is_empty());
    assert!(rules(PLAN, "fn f() { gguf::File::open(path); }\n").is_empty());
}

#[test]
fn device_features_have_one_place() {
    let text = "#[cfg(feature = \"cuda\")]\nmod cuda;\n";
    assert_eq!(rules("crates/cli/src/main.rs", text), ["features"]);
    assert!(rules(DEVICES, text).is_empty());
}

#[test]
fn names_say_something() {
    assert_eq!(rules(PLAN, "struct PageManager;\n"), ["names"]);
    assert_eq!(rules("crates/plan/src/utils.rs", ""), ["names"]);
    assert!(rules(PLAN, "use anyhow::Context;\n").is_empty());
}
