//! The cases of every op, held against the reference: on the exact path, and on the default one
//! where it has other kernels.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Result;
use minfer_conformance::{Case, Tolerance, Verdict, judge, lowered, ops, run as run_case};
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
    /// Of the default path, whose kernels round their operands.
    rounded: usize,
    refused: usize,
    /// Reasons of refusals, and how many cases each took.
    reasons: BTreeMap<String, usize>,
    /// Of each op: cases that passed.
    by_op: BTreeMap<String, usize>,
    failed: Vec<String>,
}

/// What operands that are rounded to 11 bits may come to, as a share of the largest result.
const ROUNDED: Tolerance = Tolerance::Relative(2e-3);

/// Runs those that the settings ask for, all on one device of either path: kernels are made once.
pub fn run(
    exact: &mut dyn Device,
    default: &mut dyn Device,
    settings: &Settings,
    style: Style,
) -> Result<Cases> {
    let filter = settings.text(&table::FILTER).unwrap_or_default();
    let every = settings.count(&table::EVERY).max(1);
    let all = ops::all().into_iter().filter(|case| case.name.contains(filter));
    let chosen: Vec<_> = all.step_by(every).collect();
    if chosen.is_empty() {
        return Err(usage(format!("--filter {filter:?}: no case has this in its name")));
    }
    let progress = style.steps("cases", chosen.len() as u64);
    let (start, mut cases) = (Instant::now(), Cases::default());
    for (done, case) in chosen.into_iter().enumerate() {
        progress.at(done as u64);
        if cases.judge(&case, exact) {
            cases.passed += 1;
            let op = case.name.split(['.', '[', ' ']).next().unwrap_or(&case.name);
            *cases.by_op.entry(op.to_owned()).or_default() += 1;
        }
        if lowered(&case, exact.target()) != lowered(&case, default.target()) {
            let name = format!("{} (default path)", case.name);
            let case = Case { name, tolerance: ROUNDED, ..case };
            cases.rounded += usize::from(cases.judge(&case, default));
        }
    }
    cases.seconds = rounded(start.elapsed().as_secs_f64());
    Ok(cases)
}

impl Cases {
    /// Runs a case; whether it passed.
    fn judge(&mut self, case: &Case, device: &mut dyn Device) -> bool {
        let same_bits = device.target().caps().batch_invariant;
        match judge(case, run_case(case, device), same_bits) {
            Verdict::Passed => return true,
            Verdict::Unsupported(reason) => {
                self.refused += 1;
                *self.reasons.entry(reason).or_default() += 1;
            }
            Verdict::Failed(why) => {
                self.failed.push(why);
                // A device that cannot be brought back fails the next case, which tells so.
                let _ = device.recover();
            }
        }
        false
    }

    pub fn failures(&self) -> Vec<String> {
        self.failed.iter().map(|why| format!("case {why}")).collect()
    }

    pub fn text(&self) -> String {
        format!(
            "cases: {} passed on the exact path, {} with rounded operands, {} refused by the \
             device, {} failed in {:.1} s",
            self.passed,
            self.rounded,
            self.refused,
            self.failed.len(),
            self.seconds
        )
    }
}
