//! The suite's cases of every op, on all that a CPU can be: the bits of canonical mode.

use minfer_backend_cpu::{Cpu, CpuOptions};
use minfer_conformance::{Case, Verdict, check, in_bucket, ops, tight};
use minfer_plan::Device;

/// Holds every case, in buckets with a row to spare and in full ones.
#[test]
fn every_op_has_the_bits_of_the_definition() {
    let suite = ops::all();
    let full = suite.iter().step_by(4).cloned().map(tight);
    let wide = suite.iter().skip(1).step_by(16).cloned().map(|case| in_bucket(case, 200));
    let cases: Vec<Case> = full.chain(wide).chain(suite.iter().cloned()).collect();
    let make =
        || -> Box<dyn Device> { Box::new(Cpu::new(CpuOptions { threads: 2, isa: None }).unwrap()) };
    let (mut passed, mut failed) = (0, Vec::new());
    for case in &cases {
        match check(case, &make, true) {
            Verdict::Passed => passed += 1,
            Verdict::Unsupported(_) => {}
            Verdict::Failed(why) => failed.push(why),
        }
    }
    let shown: Vec<_> = failed.iter().take(10).collect();
    assert!(failed.is_empty(), "{} of {} cases: {shown:#?}", failed.len(), cases.len());
    assert!(passed > 3500, "{passed} cases were run");
}
