//! Every barrier is needed: a kernel without it is caught.

use metal_sim::{Compiler, Library, Mode, Source};
use minfer_backend_metal::{Module, Staging, modules};
use minfer_conformance::{Case, in_bucket, ops, run};

use crate::device::{Run, SimDevice};
use crate::kernels::simulator_is_here;

/// A module with the instances alone whose name has `keep` in it.
fn module(name: &str, keep: &str) -> Module {
    let module = modules().into_iter().find(|module| module.name == name).expect("a module");
    let mut parts = module.text.split("#line 1 \"instance ");
    let shared = parts.next().unwrap_or_default().to_owned();
    let kept = parts.filter(|part| part.lines().next().is_some_and(|line| line.contains(keep)));
    let text = kept.fold(shared, |text, part| text + "#line 1 \"instance " + part);
    Module { text, ..module }
}

fn compile(name: &str, text: String) -> Library {
    let source = Source { name: format!("{name}.metal"), text };
    let compiler = Compiler::find().expect("is here");
    compiler.compile(&source, Mode::Checked).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether some case fails in a checked run.
fn is_caught(cases: &[Case], staging: Staging, library: &Library) -> bool {
    let how = Run { checked: true, seed: 3 };
    cases.iter().any(|case| {
        let device = SimDevice::new(how, staging);
        let outcome = run(case, &mut device.with_changed(library.clone()));
        outcome.is_err()
    })
}

/// Takes each barrier away in turn.
fn hold(name: &str, keep: &str, prefixes: &[&str]) {
    if !simulator_is_here() {
        return;
    }
    let suite = ops::all();
    let wanted = |case: &&Case| prefixes.iter().any(|prefix| case.name.starts_with(prefix));
    let wanted = suite.iter().filter(wanted).cloned();
    // Attention of few rows is the one kernel that a larger bucket would do without.
    let many = name != "attention";
    let cases: Vec<Case> =
        wanted.map(|case| if many { in_bucket(case, 16) } else { case }).collect();
    assert!(!cases.is_empty(), "no case is called {prefixes:?}");
    let module = module(name, keep);
    let staging = if keep.contains("half") { Staging::Half } else { Staging::Full };
    assert!(!is_caught(&cases, staging, &compile(name, module.text.clone())), "{name} as it is");
    let barriers: Vec<usize> = ["threadgroup_barrier(", "simdgroup_barrier("]
        .iter()
        .flat_map(|call| module.text.match_indices(call).map(|(at, _)| at))
        .collect();
    for at in barriers {
        let end = at + module.text[at..].find(';').expect("a statement");
        let text = format!("{}{}", &module.text[..at], &module.text[end..]);
        let line = module.text[..at].lines().last().unwrap_or_default();
        let before = &module.text[at.saturating_sub(160)..at];
        let caught = is_caught(&cases, staging, &compile(name, text));
        assert!(caught, "{name} does without the barrier after {before}{line}");
    }
}

#[test]
fn of_reductions() {
    hold("select", "", &["softmax[3,1", "top_k[3", "route[3"]);
}

#[test]
fn of_matmul_tiles() {
    hold("matmul_many", "f16_half", &["matmul.f16.f32[9,33,", "matmul.f16.f32[9,65,"]);
}

#[test]
fn of_expert_tiles() {
    hold("expert_matmul_many", "f16_half", &["expert_matmul.f16.f32[T=17"]);
}

#[test]
fn of_attention() {
    hold("attention", "f32_f32_64", &["attention.decode[[(511", "attention.decode[[(31"]);
}

#[test]
fn of_attention_of_many_rows() {
    hold("attention_prefill", "float_128", &["attention.head_dim[[(33, 3)],4/2x128"]);
}

#[test]
fn of_heads_on_their_way_to_the_cache() {
    hold("kv_store", "", &["qkv.f32.f32[1,", "qkv.f32.f32[9,"]);
}
