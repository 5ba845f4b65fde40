//! Launches into an encoder.

use std::ops::Range;
use std::time::Instant;

use minfer_graph::Counts;
use minfer_plan::{DeviceError, Place, StepRun};

use super::Metal;
use super::prepare::{Bound, Loaded, Prepared};
use super::state::States;
use crate::sys::{Buffer, Commands, ComputePass};

impl Metal {
    /// Encodes some steps of a split; gives the nanoseconds that each took to encode.
    pub(super) fn encode(
        &self,
        commands: &Commands,
        run: &StepRun,
        steps: &Range<usize>,
    ) -> Result<Vec<u64>, DeviceError> {
        let loaded = &self.loaded[run.split];
        let (_, states) = &self.states[loaded.state.0 as usize];
        let pass = commands.compute().ok_or_else(|| self.failed("no compute encoder"))?;
        let (mut barrier, mut encoding) = (false, vec![0; steps.len()]);
        let mut first = true;
        for launch in loaded.prepared.iter().filter(|launch| steps.contains(&launch.step)) {
            let start = Instant::now();
            // What an encoder begins with comes after all that ended before it.
            barrier |= launch.barrier && !first;
            let rows = launch.dispatch.grid.rows.live(&run.counts);
            if rows > 0 {
                if std::mem::take(&mut barrier) {
                    pass.barrier();
                }
                first = false;
                if let Err(reason) = self.launch(&pass, loaded, launch, states, run, rows) {
                    pass.end();
                    return Err(reason);
                }
            }
            encoding[launch.step - steps.start] += start.elapsed().as_nanos() as u64;
        }
        pass.end();
        Ok(encoding)
    }

    fn launch(
        &self,
        pass: &ComputePass,
        loaded: &Loaded,
        launch: &Prepared,
        states: &States,
        run: &StepRun,
        rows: usize,
    ) -> Result<(), DeviceError> {
        let dispatch = &launch.dispatch;
        let bound = self.bind(pass, launch, states, run.slot, &run.counts);
        let pipeline = self.pipelines.get(&dispatch.kernel);
        let (Some(pipeline), true) = (pipeline, bound) else {
            let node = loaded.split.node(&loaded.split.steps[launch.step]);
            return Err(self.failed(format!(
                "{} ({}): an operand does not lie in its buffer",
                node.name, dispatch.kernel
            )));
        };
        let next = dispatch.buffers.len();
        pass.bytes(next, &dispatch.arguments);
        pass.bytes(next + 1, &(rows as u32).to_le_bytes());
        if dispatch.threadgroup_memory > 0 {
            pass.threadgroup_memory(dispatch.threadgroup_memory as usize);
        }
        pass.dispatch(pipeline, dispatch.grid.threadgroups(rows), dispatch.threads);
        Ok(())
    }

    /// Binds the buffers of a launch; false where one is missing or too short.
    fn bind(
        &self,
        pass: &ComputePass,
        launch: &Prepared,
        states: &States,
        slot: usize,
        counts: &Counts,
    ) -> bool {
        let slice = |at: usize, buffer: Option<&Buffer>, range: Range<usize>| {
            buffer.is_some_and(|buffer| pass.bind(at, buffer, range.start, range.len()))
        };
        let whole = |at: usize, buffer: &Buffer| slice(at, Some(buffer), 0..buffer.len());
        launch.bound.iter().enumerate().all(|(at, bound)| match bound {
            Bound::Value(placed) => {
                let area = match placed.place {
                    Place::Arena(_) => self.areas.arena.as_ref(),
                    Place::Staging(_) => self.areas.staging[slot].as_ref(),
                };
                slice(at, area, placed.live(counts))
            }
            Bound::Input(input) => {
                let place = self.areas.inputs[slot].place(*input);
                place.is_some_and(|(buffer, range)| slice(at, Some(buffer), range))
            }
            Bound::Weight(buffer, range) => {
                slice(at, self.weights.buffers().get(*buffer), range.clone())
            }
            Bound::Keys(id) => states.get(*id).is_some_and(|pool| whole(at, &pool.key.buffer)),
            Bound::Values(id) => states.get(*id).is_some_and(|pool| whole(at, &pool.value.buffer)),
            Bound::Scratch(range) => slice(at, self.areas.arena.as_ref(), range.clone()),
            Bound::Constant(bytes) => {
                pass.bytes(at, bytes);
                true
            }
            Bound::Unused => {
                pass.bytes(at, &[0; 16]);
                true
            }
        })
    }
}
