//! One launch of a run: from what it binds to what came of it.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::checks::Checks;
use super::dispatch::Dispatch;
use super::log::{Finding, Log, Spot};
use super::{Simulator, host, limits, pool};
use crate::launch::{Binding, Launch};
use crate::library::{Mode, Parameter, ParameterKind};
use crate::report::Kind;
use crate::traffic::Traffic;

/// One launch of a run.
pub struct Step<'a> {
    pub simulator: &'a Simulator,
    pub launches: &'a [Launch],
    pub launch: &'a Launch,
    /// A barrier stands before it.
    pub barrier: bool,
    pub log: &'a Arc<Log>,
}

/// What came of it.
#[derive(Default)]
pub struct Executed {
    /// It came to its end.
    pub ended: bool,
    /// Known for checked kernels.
    pub traffic: Option<Traffic>,
}

impl Step<'_> {
    /// Runs it, with what earlier launches left.
    pub fn execute(&self, checks: &mut Option<Box<Checks>>) -> Executed {
        let Some(dispatch) = limits::inspect(self.simulator, self.launch, self.log) else {
            return Executed::default();
        };
        self.start(Arc::new(dispatch), checks).unwrap_or_else(|error| {
            let (kind, spot) = (Kind::Fault, Spot::Kernel);
            let text = format!("the simulator could not run the launch: {error}");
            let (thread, threadgroup) = (None, None);
            self.log.add_always(Finding { kind, spot, thread, threadgroup, text });
            Executed::default()
        })
    }

    fn start(
        &self,
        dispatch: Arc<Dispatch>,
        checks: &mut Option<Box<Checks>>,
    ) -> io::Result<Executed> {
        let library = self.launch.kernel.library();
        let exports = library.exports();
        (exports.attach)(&raw const host::HOST);
        let _constants = self.launch.kernel.hold();
        if library.mode() == Mode::Fast {
            // Nobody sees what it writes; it may be all that it can.
            for slice in dispatch.slices.iter().filter(|slice| slice.writable) {
                slice.memory.note_written(slice.offset, slice.length);
            }
            let groups = dispatch.shape.total().unwrap_or(1) as usize;
            pool::run(&dispatch, self.simulator.workers.min(groups), None)?;
            let ended = !dispatch.stop.load(Ordering::Relaxed);
            return Ok(Executed { ended, traffic: None });
        }
        let watch = match checks.take() {
            Some(mut checks) => {
                checks.next(&dispatch, self.barrier)?;
                checks
            }
            None => Box::new(Checks::new(writable(self.launches), &dispatch)?),
        };
        *checks = pool::run(&dispatch, 1, Some(watch))?;
        let ended = !dispatch.stop.load(Ordering::Relaxed);
        let traffic = checks.as_mut().map(|checks| checks.finish(&dispatch));
        Ok(Executed { ended, traffic })
    }
}

/// What the kernels of a run can write.
fn writable(launches: &[Launch]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for launch in launches {
        for binding in &launch.bindings {
            let Binding::Buffer { index, memory, offset, length } = binding else { continue };
            let writes = |one: &Parameter| {
                one.kind == ParameterKind::Buffer && one.index == *index && !one.constant
            };
            if launch.kernel.parameters().iter().any(writes) {
                let start = memory.ptr() as usize + offset;
                ranges.push(start..start + length);
            }
        }
    }
    ranges
}
