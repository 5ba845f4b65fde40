//! The device layer beside its numbers: command buffers, times, memory, kernels.

use std::time::Duration;

use metal_sim::Profile;
use minfer_backend_metal::{Metal, MetalOptions, Staging, modules};
use minfer_conformance::{
    Outcome, Tolerance, Verdict, check, compare, ops, run, tiny_file, tiny_logits,
};
use minfer_gguf::{File, OpenOptions};
use minfer_plan::Device;
use minfer_quant::Quant;

use crate::gpu::open;

fn metal(options: MetalOptions) -> Metal {
    open(Profile::M1, MetalOptions { staging: Staging::Full, ..options })
}

fn tokens(count: u32) -> Vec<u32> {
    (0..count).map(|i| 3 + i * 7 % 280).collect()
}

#[test]
fn a_prompt_gives_the_same_bits_however_it_is_cut() {
    let file = File::from_bytes(tiny_file("gemma3", Quant::Q4_0)).unwrap();
    let logits = |nanoseconds| {
        let command_buffer = Duration::from_nanos(nanoseconds);
        let device = metal(MetalOptions { command_buffer, ..MetalOptions::default() });
        tiny_logits(&file, Box::new(device), &tokens(40)).unwrap()
    };
    let whole = logits(u64::MAX);
    for nanoseconds in [1, 1_000, 20_000] {
        assert_eq!(logits(nanoseconds), whole, "{nanoseconds} ns");
    }
}

#[test]
fn weights_are_read_from_the_mapped_file_or_a_copy_in_as_many_buffers_as_it_takes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    std::fs::write(&path, tiny_file("llama", Quant::Q8_0)).unwrap();
    let file = |mmap| File::open_with(&path, OpenOptions { mmap, mlock: false }).unwrap();
    let logits = |file: &File, longest, copy_weights| {
        let profile = Profile { max_buffer_length: longest, ..Profile::M1 };
        let options =
            MetalOptions { staging: Staging::Full, copy_weights, ..MetalOptions::default() };
        tiny_logits(file, Box::new(open(profile, options)), &tokens(9))
    };
    let mapped = file(true);
    let expected = logits(&mapped, 1 << 30, false).unwrap();
    assert_eq!(logits(&mapped, 1 << 30, true).unwrap(), expected);
    assert_eq!(logits(&file(false), 1 << 30, false).unwrap(), expected);
    // The file is longer than this.
    assert_eq!(logits(&mapped, 48 << 10, false).unwrap(), expected);
    assert_eq!(logits(&mapped, 48 << 10, true).unwrap(), expected);
    let error = logits(&mapped, 8 << 10, false).unwrap_err();
    assert!(error.contains("a buffer has at most 8192"), "{error}");
}

#[test]
fn memory_is_held_while_requests_run() {
    let cases = ops::all();
    let case = cases.iter().find(|case| case.name.starts_with("matmul.")).unwrap();
    let mut device = metal(MetalOptions::default());
    assert_eq!(device.resident_bytes(), 0);
    assert!(matches!(run(case, &mut device).unwrap(), Outcome::Ran(_)));
    assert!(device.resident_bytes() > 0, "the weights of {}", case.name);
    device.rest();
    assert_eq!(device.resident_bytes(), 0);
    device.recover().unwrap();
    assert_eq!(device.resident_bytes(), 0);
}

#[test]
fn every_kernel_of_every_format_can_be_made() {
    let made = metal(MetalOptions::default()).kernels().unwrap();
    let listed = modules().iter().map(|module| module.kernels.len()).sum::<usize>();
    assert_eq!(made.len(), listed);
    assert!(made.iter().all(|kernel| kernel.threads_max >= 32));
}

/// An Apple GPU with half the threads and half the threadgroup memory.
fn small() -> Metal {
    let options = MetalOptions { staging: Staging::Full, ..MetalOptions::default() };
    open(Profile::SMALL, options)
}

/// Every so many cases run on the small GPU; each kernel has some of them.
const STEP: usize = 8;

#[test]
fn ops_run_on_a_small_gpu() {
    let (mut ran, mut refused) = (0, Vec::new());
    for case in ops::all().iter().skip(1).step_by(STEP) {
        match check(case, &|| Box::new(small()), false) {
            Verdict::Passed => ran += 1,
            Verdict::Unsupported(reason) => refused.push(reason),
            Verdict::Failed(why) => panic!("{why}"),
        }
    }
    assert!(ran > 200, "{ran}");
    let by_limits = refused.iter().find(|reason| reason.contains("has at most"));
    assert_eq!(by_limits, None, "planned otherwise");
}

#[test]
fn tiny_models_run_on_a_small_gpu() {
    for architecture in ["llama", "gemma3", "qwen3moe"] {
        let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
        let whole = tiny_logits(&file, Box::new(metal(MetalOptions::default())), &tokens(40));
        let found = tiny_logits(&file, Box::new(small()), &tokens(40)).unwrap();
        let difference = compare(&whole.unwrap(), &found, Tolerance::Relative(1e-3));
        assert!(difference.is_none(), "{architecture}: {difference:?}");
    }
}
