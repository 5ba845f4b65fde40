//! Whole tiny models of every architecture, planned for the device and run on the simulator: prompt
//! chunks of many and of few rows, single tokens, fused ops, values that share memory.

use minfer_backend_metal::Staging;
use minfer_conformance::{TinyRun, Tolerance, compare, run_tiny, tiny_file};
use minfer_gguf::File;
use minfer_graph::KvTypes;
use minfer_models::arch::ARCHITECTURES;
use minfer_plan::{Device, Options, TargetId};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode, Reference};

use crate::device::{Run, SimDevice};
use crate::kernels::simulator_is_here;

/// Runs every architecture; its logits have to be the formulas' within `tolerance`.
fn hold(kv: KvType, chunks: &[usize], how: Run, tolerance: Tolerance) {
    if !simulator_is_here() {
        return;
    }
    let tokens: Vec<u32> =
        (0..chunks.iter().sum::<usize>() as u32).map(|i| 3 + i * 7 % 40).collect();
    for architecture in ARCHITECTURES {
        let file = File::from_bytes(tiny_file(architecture.name, Quant::Q4_1)).expect("opens");
        let layers = minfer_models::open(&file).expect("a model").config().layers;
        let run = TinyRun {
            kv: KvTypes { key: kv, value: kv },
            chunks: chunks.to_vec(),
            options: Options::default(),
            layers: vec![TargetId(0); layers],
        };
        let logits = |device: Box<dyn Device>| {
            let logits = run_tiny(&file, vec![device], &tokens, &run);
            logits.unwrap_or_else(|error| panic!("{}: {error}", architecture.name))
        };
        let expected = logits(Box::new(Reference::new(Mode::F64)));
        let found = logits(Box::new(SimDevice::new(how, Staging::Full)));
        let difference = compare(&expected, &found, tolerance);
        assert_eq!(difference, None, "{}", architecture.name);
    }
}

#[test]
fn models_give_the_formulas_logits() {
    let fast = Run { checked: false, seed: 0 };
    hold(KvType::F32, &[20, 1, 1, 4, 1, 9, 1], fast, Tolerance::Relative(2e-5));
}

#[test]
fn models_give_the_formulas_logits_with_f16_caches() {
    // A value beside the middle of two f16 may be rounded to either.
    let fast = Run { checked: false, seed: 0 };
    hold(KvType::F16, &[20, 1, 1, 4, 1, 9, 1], fast, Tolerance::Relative(1e-3));
}

#[test]
fn no_access_of_a_model_is_wrong() {
    let checked = Run { checked: true, seed: 5 };
    hold(KvType::F32, &[10, 1], checked, Tolerance::Relative(2e-5));
}
