//! The cases of every op, held against the reference.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use minfer_conformance::{Verdict, judge, ops, run as run_case};
use minfer_plan::Device;
use serde::Serialize;

use crate::failure::usage;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{Style, rounded};

#[derive(Default, Serialize)]
pub struct Cases {
    seconds: f64,
    passed: usize,
    refused: usize,
    /// Reasons of refusals, and how many cases each took.
    reasons: BTreeMap<String, usize>,
    /// Of each op: cases that passed.
    by_op: BTreeMap<String, usize>,
    failed: Vec<String>,
}

/// Runs those that the settings ask for, all on one device: its kernels are made once.
pub fn run(device: &mut dyn Device, settings: &Settings, style: Style) -> Result<Cases> {
    let filter = settings.text(&table::FILTER).unwrap_or_default();
    let every = settings.count(&table::EVERY).max(1);
    let all = ops::all().into_iter().filter(|case| case.name.contains(filter));
    let chosen: Vec<_> = all.step_by(every).collect();
    if chosen.is_empty() {
        return Err(usage(format!("--filter {filter:?}: no case has this in its name")));
    }
    let exact = device.target().caps().batch_invariant;
    let progress = style.steps("cases", chosen.len() as u64);
    let (start, mut cases) = (Instant::now(), Cases::default());
    for (done, case) in chosen.iter().enumerate() {
        progress.at(done as u64);
        match judge(case, run_case(case, device), exact) {
            Verdict::Passed => {
                cases.passed += 1;
                let op = case.name.split(['.', '[', ' ']).next().unwrap_or(&case.name);
                *cases.by_op.entry(op.to_owned()).or_default() += 1;
            }
            Verdict::Unsupported(reason) => {
                cases.refused += 1;
                *cases.reasons.entry(reason).or_default() += 1;
            }
            Verdict::Failed(why) => {
                cases.failed.push(why);
                // A device that cannot be brought back fails the next case, which tells so.
                let _ = device.recover();
            }
        }
    }
    cases.seconds = rounded(start.elapsed().as_secs_f64());
    Ok(cases)
}

impl Cases {
    pub fn failures(&self) -> Vec<String> {
        self.failed.iter().map(|why| format!("case {why}")).collect()
    }

    pub fn text(&self) -> String {
        format!(
            "cases: {} passed, {} refused by the device, {} failed in {:.1} s",
            self.passed,
            self.refused,
            self.failed.len(),
            self.seconds
        )
    }
}
