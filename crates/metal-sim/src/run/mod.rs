//! Execution: threads of a threadgroup as fibers of one system thread.
//!
//! A fiber is left at barriers and collectives only, so between two of them a thread runs at the
//! speed of compiled code. Simdgroups of 32 lanes and threadgroups meet at rendezvous; what does
//! not come alike is reported, never waited for.

mod arena;
mod checks;
mod core;
mod dispatch;
mod fault;
mod fiber;
mod host;
mod limits;
mod log;
mod pool;
mod schedule;
mod symbols;
mod sync;

use std::sync::Arc;

use self::log::Log;
use crate::launch::Launch;
use crate::profile::Profile;
use crate::report::{Kind, Report};

/// A GPU to run launches on, and how closely to look.
#[derive(Clone, Copy, Debug)]
pub struct Simulator {
    /// The GPU.
    pub profile: Profile,
    /// System threads that threadgroups of a fast launch run on at once; checked ones use one.
    pub workers: usize,
    /// Order of lanes, simdgroups and threadgroups; 0 is first to last.
    pub seed: u64,
    /// Reports of a launch, at most.
    pub max_reports: usize,
    /// Accesses (of checked kernels) and collectives of a threadgroup before it counts as hanging.
    pub steps: u64,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was found, in order.
    pub reports: Vec<Report>,
    /// Something was found that a launch cannot go on after.
    pub stopped: bool,
}

impl Simulator {
    /// This GPU, one worker, lanes in order.
    pub fn new(profile: Profile) -> Simulator {
        Simulator { profile, workers: 1, seed: 0, max_reports: 20, steps: 1 << 36 }
    }

    /// Runs one launch to its end.
    pub fn run(&self, launch: &Launch) -> Outcome {
        self.run_concurrent(std::slice::from_ref(launch), &[])
    }

    /// Runs the launches of one encoder, which a GPU may run at once but for the barriers:
    /// `barriers_before[i]` says whether one stands before launch `i`. The simulator runs them one
    /// after the other, and checked kernels report what would have been undecided.
    pub fn run_concurrent(&self, launches: &[Launch], barriers_before: &[bool]) -> Outcome {
        let _ = barriers_before;
        let mut outcome = Outcome::default();
        for launch in launches {
            let log = Arc::new(Log::new(self.max_reports));
            let stopped = !self.execute(launch, &log);
            outcome.reports.extend(symbols::reports(&launch.kernel, log.take()));
            if stopped {
                outcome.stopped = true;
                break;
            }
        }
        outcome
    }

    /// Runs one launch; whether it came to its end.
    fn execute(&self, launch: &Launch, log: &Arc<Log>) -> bool {
        let Some(dispatch) = limits::inspect(self, launch, log) else { return false };
        let exports = launch.kernel.library().exports();
        (exports.attach)(&raw const host::HOST);
        let _constants = launch.kernel.hold();
        let groups = dispatch.shape.total().unwrap_or(1) as usize;
        let workers = if exports.checked == 0 { self.workers.min(groups) } else { 1 };
        let dispatch = Arc::new(dispatch);
        if let Err(error) = pool::run(&dispatch, workers, None) {
            let (kind, spot) = (Kind::Fault, log::Spot::Kernel);
            let text = format!("the simulator cannot start a thread: {error}");
            log.add_always(log::Finding { kind, spot, thread: None, threadgroup: None, text });
            return false;
        }
        !dispatch.stop.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Default for Simulator {
    fn default() -> Simulator {
        Simulator::new(Profile::M1)
    }
}
