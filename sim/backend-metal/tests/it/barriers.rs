//! Every barrier between launches is needed: left out, it is missed.
//!
//! A tenth of them is left out here, all by `cargo xtask mutate`. Steps are a single token deep in
//! a sequence, whose attention is shared out, and the same beside a prompt.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use metal_sim::objc::{Omission, Settings};
use minfer_conformance::{Seeded, TinyRows};

use crate::models::Tiny;
use crate::ops::{checked, device};

/// Positions of a sequence, and where the single token is: close behind an attention's first
/// partition, so that a window reaches over its end.
const POSITIONS: usize = 640;
const DEEP: usize = 513;

/// Steps of different programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Token,
    TokenAndPrompt,
}

/// What comes of a step without one barrier. What is cached of earlier tokens does not matter.
fn without(model: &Tiny, step: Step, barrier: usize) -> (Result<(), String>, Arc<Omission>) {
    let omission = Omission::new(barrier);
    let settings = Settings { omission: Some(omission.clone()), ..checked(0) };
    let prompt: Vec<u32> = (3..20).collect();
    let deep = TinyRows { sequence: 0, position: DEEP, tokens: &[7], outputs: 1 };
    let rows = TinyRows { sequence: 1, position: 0, tokens: &prompt, outputs: 1 };
    let rows = [deep, rows];
    let rows = if step == Step::Token { &rows[..1] } else { &rows };
    let found = model.at(device(settings), [2, POSITIONS]).and_then(|mut model| model.step(rows));
    (found.map(drop), omission)
}

#[test]
fn a_barrier_that_is_left_out_is_missed() {
    let whole = std::env::var_os("MINFER_MUTATE").is_some_and(|value| value == "all");
    let mut chance = Seeded::named("barriers between launches");
    // By what stands around a barrier: how many were left out, and how many missed.
    let mut table: BTreeMap<(&str, Step, [String; 2]), [usize; 2]> = BTreeMap::new();
    for model in Tiny::all(&[1]) {
        for step in [Step::Token, Step::TokenAndPrompt] {
            let (found, omission) = without(&model, step, usize::MAX);
            found.unwrap_or_else(|error| panic!("{}: {error}", model.name));
            let barriers = omission.set.load(Ordering::Relaxed);
            assert!(barriers > 0, "{} has no barriers", model.name);
            for barrier in (0..barriers).filter(|_| whole || chance.bits().is_multiple_of(10)) {
                let (found, omission) = without(&model, step, barrier);
                let missed = found.is_err_and(|error| error.contains("launch-race"));
                let between = omission.between.get().cloned().unwrap_or_default();
                let row = table.entry((model.name, step, between)).or_default();
                *row = [row[0] + 1, row[1] + usize::from(missed)];
            }
        }
    }
    let mut text = String::new();
    for ((model, step, [before, behind]), [left_out, missed]) in &table {
        text += &format!("{model} {step:?}: {before} | {behind}: {missed} of {left_out} missed\n");
    }
    if whole {
        std::io::stdout().write_all(text.as_bytes()).expect("a table");
    }
    assert!(!table.is_empty(), "no barrier was left out");
    let needless = table.values().any(|[left_out, missed]| left_out != missed);
    assert!(!needless, "nothing needs some of these:\n{text}");
}
