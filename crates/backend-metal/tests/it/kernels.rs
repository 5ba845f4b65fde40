//! The kernels' numbers, on the simulator, against the formulas in double precision.
//!
//! Each test takes the suite's cases of some ops twice: with a row to spare in the bucket, and with
//! none. Fast runs take all of them; checked runs, which watch every access, take some, in another
//! order of lanes: the device's own tests in `sim` check them all.

use std::ops::Range;

use metal_sim::{CompileError, Compiler};
use minfer_backend_metal::Staging;
use minfer_conformance::{
    Case, Outcome, Tolerance, compare, in_bucket, of_kind, ops, run, size, tight,
};
use minfer_graph::{StepKind, TensorType};
use minfer_quant::DType;
use minfer_reference::{Mode, Reference};

use crate::device::{Run, SimDevice};
use crate::variants::caches;

pub const FAST: Run = Run { checked: false, seed: 0 };
const CHECKED: Run = Run { checked: true, seed: 7 };

/// Whether there is a compiler for the simulator; where tests must not be skipped, there has to be.
pub fn simulator_is_here() -> bool {
    let found = Compiler::find();
    if let Err(error @ CompileError::Missing { .. }) = &found {
        let required = ["METAL_SIM_REQUIRED", "CI"].map(std::env::var_os);
        assert_eq!(required, [None, None], "{error}");
    }
    found.is_ok()
}

fn cases(prefix: &str) -> Vec<Case> {
    let cases = ops::all().into_iter().filter(|case| case.name.starts_with(prefix));
    cases.flat_map(|case| [tight(case.clone()), case]).collect()
}

/// Values of a result; integers as they are.
fn numbers(ty: TensorType, bytes: &[u8]) -> Vec<f32> {
    let words = bytes.as_chunks::<4>().0.iter();
    if ty.dtype == DType::I32 {
        words.map(|word| i32::from_le_bytes(*word) as f32).collect()
    } else {
        words.map(|word| f32::from_le_bytes(*word)).collect()
    }
}

/// Whether a case was run, and what is wrong with what came of it.
fn check(case: &Case, how: Run, staging: Staging) -> (bool, Option<String>) {
    check_on(case, SimDevice::new(how, staging), staging)
}

/// The same on a device with this staging.
pub fn check_on(case: &Case, mut device: SimDevice, staging: Staging) -> (bool, Option<String>) {
    let wrong = |what: String| (true, Some(format!("{}: {what}", case.name)));
    let found = match run(case, &mut device) {
        Ok(Outcome::Ran(found)) => found,
        Ok(Outcome::Unsupported(_)) => return (false, None),
        Err(error) => return wrong(error.to_string()),
    };
    let mut reference = Reference::new(Mode::F64);
    let Ok(Outcome::Ran(expected)) = run(case, &mut reference) else {
        return wrong("the reference does not run it".into());
    };
    let tolerance = match staging {
        Staging::Full => case.tolerance,
        // Both operands are rounded to 11 bits.
        Staging::Half => Tolerance::Relative(2e-3),
    };
    for ((ty, expected), (_, found)) in expected.iter().flatten().zip(found.iter().flatten()) {
        let exact = ty.dtype == DType::I32;
        let tolerance = if exact { Tolerance::Exact } else { tolerance };
        let (expected, found) = (numbers(*ty, expected), numbers(*ty, found));
        if let Some(difference) = compare(&expected, &found, tolerance) {
            return wrong(format!("{difference:?}"));
        }
    }
    (true, None)
}

/// Runs cases; at least `least` of them have to be such that the device takes them.
fn hold(cases: &[Case], how: Run, staging: Staging, least: usize) {
    if !simulator_is_here() {
        return;
    }
    let checks: Vec<_> = cases.iter().map(|case| check(case, how, staging)).collect();
    let wrong: Vec<&String> = checks.iter().filter_map(|(_, wrong)| wrong.as_ref()).collect();
    let shown: Vec<_> = wrong.iter().take(5).collect();
    assert!(wrong.is_empty(), "{} of {} cases: {shown:#?}", wrong.len(), cases.len());
    let ran = checks.iter().filter(|(ran, _)| *ran).count();
    assert!(ran >= least, "{ran} cases were run, expected {least} at least");
}

/// Every `step`th case.
fn some(cases: Vec<Case>, step: usize) -> Vec<Case> {
    cases.into_iter().step_by(step).collect()
}

#[test]
fn elementwise_ops() {
    for op in
        ["add[", "mul[", "scale", "unary", "glu[", "glu.", "get_rows", "expert_combine", "rope"]
    {
        hold(&cases(op), FAST, Staging::Full, 0);
        hold(&some(cases(op), 7), CHECKED, Staging::Full, 0);
    }
}

#[test]
fn norms() {
    for op in ["rms_norm", "qk_norm", "add_norm", "norm_add"] {
        hold(&cases(op), FAST, Staging::Full, 60);
        hold(&some(cases(op), 2), CHECKED, Staging::Full, 30);
    }
}

#[test]
fn embed() {
    hold(&cases("embed"), FAST, Staging::Full, 60);
    hold(&some(cases("embed"), 3), CHECKED, Staging::Full, 20);
}

#[test]
fn matmul() {
    hold(&cases("matmul."), FAST, Staging::Full, 1400);
    hold(&cases("matmul_group"), FAST, Staging::Full, 40);
}

#[test]
fn matmul_checked() {
    hold(&some(cases("matmul."), 23), CHECKED, Staging::Full, 60);
    hold(&some(cases("matmul_group"), 5), CHECKED, Staging::Full, 5);
}

#[test]
fn matmul_with_operands_staged_as_f16() {
    hold(&cases("matmul."), FAST, Staging::Half, 1400);
    hold(&some(cases("matmul."), 97), CHECKED, Staging::Half, 10);
}

#[test]
fn matmul_with_what_lies_around_it() {
    hold(&cases("matmul_add"), FAST, Staging::Full, 50);
    hold(&some(cases("matmul_add"), 3), CHECKED, Staging::Full, 20);
    hold(&cases("norm_matmul"), FAST, Staging::Full, 16);
    hold(&some(cases("norm_matmul"), 2), CHECKED, Staging::Full, 8);
}

#[test]
fn expert_matmul() {
    hold(&cases("expert_gate_up"), FAST, Staging::Full, 90);
    hold(&some(cases("expert_gate_up"), 5), CHECKED, Staging::Full, 15);
    hold(&some(cases("expert_matmul"), 3), FAST, Staging::Half, 60);
    hold(&cases("expert_matmul"), FAST, Staging::Full, 200);
    hold(&some(cases("expert_matmul"), 7), CHECKED, Staging::Full, 20);
}

#[test]
fn kv_store() {
    hold(&cases("kv_store"), FAST, Staging::Full, 70);
    hold(&some(cases("kv_store"), 3), CHECKED, Staging::Full, 20);
}

#[test]
fn attention() {
    hold(&cases("attention"), FAST, Staging::Full, 150);
    hold(&some(caches(), 5), FAST, Staging::Full, 20);
}

#[test]
fn attention_checked() {
    for part in ["attention.decode", "attention.all", "attention.kv", "attention.heads"] {
        hold(&some(cases(part), 5), CHECKED, Staging::Full, 1);
    }
    hold(&some(caches(), 23), CHECKED, Staging::Full, 5);
}

#[test]
fn selection() {
    for op in ["softmax", "argmax", "top_k", "route"] {
        hold(&cases(op), FAST, Staging::Full, 10);
        hold(&some(cases(op), 2), CHECKED, Staging::Full, 5);
    }
}

#[test]
fn qkv() {
    hold(&cases("qkv"), FAST, Staging::Full, 10);
    hold(&some(cases("qkv"), 5), CHECKED, Staging::Full, 2);
}

#[test]
fn gate_up() {
    let small = cases("gate_up");
    let wider = |rows| small.iter().map(move |case| in_bucket(case.clone(), rows));
    let cases: Vec<Case> = small.iter().cloned().chain(wider(4)).chain(wider(8)).collect();
    hold(&cases, FAST, Staging::Full, 30);
    hold(&some(cases, 5), CHECKED, Staging::Full, 6);
}

/// Kernels by the kind of a step: those of few rows for many, and the other way round.
#[test]
fn kinds_of_steps() {
    let suite = ops::all();
    let ops = ["matmul", "gate_up", "qkv", "expert_", "attention.prefill", "attention.batch"];
    let suite: Vec<&Case> =
        suite.iter().filter(|case| ops.iter().any(|op| case.name.starts_with(op))).collect();
    let of = |kind, rows: Range<usize>| -> Vec<Case> {
        let these = suite.iter().filter(|case| rows.contains(&size(case)[0]));
        these.map(|case| of_kind((*case).clone(), kind)).collect()
    };
    for cases in [of(StepKind::Decode, 9..34), of(StepKind::Prompt, 1..9)] {
        hold(&some(cases.clone(), 3), FAST, Staging::Full, 30);
        hold(&some(cases, 23), CHECKED, Staging::Full, 3);
    }
}
