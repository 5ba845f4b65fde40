//! Choices between variants: each value of each is right, and is a variant.

use minfer_backend_metal::{Limits, MetalTarget, Staging, Tune};
use minfer_conformance::{Case, lowered, ops, tight};
use minfer_plan::Target as _;

use crate::device::SimDevice;
use crate::kernels::{FAST, check_on, simulator_is_here};

/// Ops whose kernels choices decide about, and which of their cases are run.
const OPS: [(&str, usize); 8] = [
    ("matmul.", 89),
    ("matmul_group", 13),
    ("norm_matmul", 9),
    ("gate_up", 9),
    ("qkv", 17),
    ("attention", 19),
    ("rms_norm", 7),
    ("add_norm", 7),
];

/// All cases of these ops, tight ones too, or some of each.
fn cases(some: bool) -> Vec<Case> {
    let all = ops::all();
    let of = |(op, step): &(&str, usize)| -> Vec<Case> {
        let cases = all.iter().filter(|case| case.name.starts_with(*op)).cloned();
        let both = cases.flat_map(|case| [tight(case.clone()), case]);
        both.step_by(if some { *step } else { 1 }).collect()
    };
    OPS.iter().flat_map(of).collect()
}

fn target(tune: Tune) -> MetalTarget {
    MetalTarget::new(Limits::apple7("simulated"), Staging::Full).with_tune(tune)
}

#[test]
fn every_value_of_every_choice_gives_right_results() {
    if !simulator_is_here() {
        return;
    }
    let cases = cases(true);
    let mut ran = 0;
    for choice in target(Tune::default()).choices() {
        for &value in choice.values {
            let tune = Tune::of([(choice.name, value)]).unwrap();
            let default = target(Tune::default());
            let other = |case: &&Case| lowered(case, &target(tune)) != lowered(case, &default);
            for case in cases.iter().filter(other) {
                let device = SimDevice::new(FAST, Staging::Full).with_tune(tune);
                let (taken, wrong) = check_on(case, device, Staging::Full);
                assert_eq!(wrong, None, "{} = {value}", choice.name);
                ran += usize::from(taken);
            }
        }
    }
    assert!(ran > 200, "{ran} cases were run");
}

#[test]
fn every_value_of_every_choice_is_a_variant() {
    let cases = cases(false);
    let used = target(Tune::default());
    for choice in used.choices() {
        for &value in choice.values.iter().filter(|value| **value != choice.value) {
            let other = target(Tune::of([(choice.name, value)]).unwrap());
            let differs = |case: &Case| lowered(case, &other) != lowered(case, &used);
            assert!(cases.iter().any(differs), "{} = {value} changes nothing", choice.name);
        }
    }
}
