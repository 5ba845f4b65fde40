//! Execution: threads of a threadgroup as fibers of one system thread.
//!
//! A fiber is left at barriers and collectives only, so between two of them a thread runs at the
//! speed of compiled code. Simdgroups of 32 lanes and threadgroups meet at rendezvous; what does
//! not come alike is reported, never waited for.

mod arena;
mod bounds;
mod checks;
mod core;
mod dispatch;
mod fault;
mod fiber;
mod host;
mod joint;
mod limits;
mod log;
mod pool;
mod race;
mod registers;
mod schedule;
mod shadow;
mod step;
pub(crate) mod symbols;
mod sync;
mod traffic;
mod watchdog;

use std::sync::Arc;
use std::time::Duration;

use self::log::Log;
use self::step::Step;
use crate::launch::Launch;
use crate::profile::Profile;
use crate::report::Report;
use crate::traffic::Traffic;

/// What checked kernels are watched for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// Mistakes; traffic is counted too.
    #[default]
    Mistakes,
    /// Traffic alone, in about half the time. Accesses outside of all buffers still end the launch.
    Traffic,
    /// Traffic, and how the lanes of a simdgroup share lines.
    Coalescing,
}

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
    /// Processor time of a threadgroup before it counts as hanging.
    pub patience: Duration,
    /// What checked kernels are watched for.
    pub watch: Watch,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What was found, in order.
    pub reports: Vec<Report>,
    /// What each launch moved; known for checked kernels.
    pub traffic: Vec<Traffic>,
    /// Something was found that a launch cannot go on after.
    pub stopped: bool,
}

impl Simulator {
    /// This GPU, one worker, lanes in order.
    pub fn new(profile: Profile) -> Simulator {
        Simulator {
            profile,
            workers: 1,
            seed: 0,
            max_reports: 20,
            steps: 1 << 36,
            patience: Duration::from_secs(60),
            watch: Watch::Mistakes,
        }
    }

    /// Runs one launch to its end.
    pub fn run(&self, launch: &Launch) -> Outcome {
        self.run_concurrent(std::slice::from_ref(launch), &[])
    }

    /// Runs the launches of one encoder, which a GPU may run at once but for the barriers:
    /// `barriers_before[i]` says whether one stands before launch `i`. The simulator runs them one
    /// after the other, and checked kernels report what would have been undecided.
    pub fn run_concurrent(&self, launches: &[Launch], barriers_before: &[bool]) -> Outcome {
        let mut outcome = Outcome::default();
        let mut checks = None;
        for (index, launch) in launches.iter().enumerate() {
            let log = Arc::new(Log::new(self.max_reports));
            let barrier = barriers_before.get(index).copied().unwrap_or(false);
            let step = Step { simulator: self, launches, launch, barrier, log: &log };
            let result = step.execute(&mut checks);
            outcome.reports.extend(symbols::reports(&launch.kernel, log.take()));
            outcome.traffic.extend(result.traffic);
            if !result.ended {
                outcome.stopped = true;
                break;
            }
        }
        outcome
    }
}

impl Default for Simulator {
    fn default() -> Simulator {
        Simulator::new(Profile::M1)
    }
}
