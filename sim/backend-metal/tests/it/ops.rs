//! Every op's cases on the device, held to double precision.

use metal_sim::Mode;
use metal_sim::objc::{self, Settings};
use minfer_backend_metal::{Metal, MetalOptions, Staging};
use minfer_conformance::{Verdict, check, ops};
use minfer_plan::Device;

/// A device with f32 staging on a simulator of this mode.
pub fn device(mode: Mode, seed: u64) -> Box<dyn Device> {
    objc::configure(Settings { mode, seed, workers: 2, ..Settings::default() });
    let options = MetalOptions { staging: Staging::Full, ..MetalOptions::default() };
    Box::new(Metal::new(options).unwrap())
}

/// Every so many cases are run: the kernels have all of theirs in their own tests, here the device
/// layer is what is tested.
const STEP: usize = 8;

#[test]
fn every_op_gives_the_numbers_of_the_reference() {
    let mut passed = 0;
    let mut failed = Vec::new();
    for case in ops::all().iter().step_by(STEP) {
        match check(case, &|| device(Mode::Fast, 0), false) {
            Verdict::Passed => passed += 1,
            Verdict::Unsupported(_) => {}
            Verdict::Failed(why) => failed.push(why),
        }
    }
    let shown: Vec<_> = failed.iter().take(5).collect();
    assert!(failed.is_empty(), "{} cases: {shown:#?}", failed.len());
    assert!(passed > 200, "{passed} cases were run");
}
