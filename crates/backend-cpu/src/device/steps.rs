//! Steps on their way: submitted, run launch by launch, finished.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use minfer_plan::{
    DeviceError, Done, Inputs, LaunchTime, Limit, LoadedSplit, Owed, StepRun, Stop, Ticket,
};

use super::Cpu;
use crate::call::{Call, StepData};
use crate::kernels;
use crate::sys::{Fault, MAX_VIEWS, Workers};

impl Cpu {
    /// Takes a step in.
    pub(super) fn accept(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        let index = split.0 as usize;
        let loaded = self.loaded.get(index);
        let loaded = loaded.ok_or_else(|| self.unknown("split", u64::from(split.0)))?;
        let counts = inputs.counts();
        let run = self.steps.next(index, counts);
        let run = run.ok_or_else(|| DeviceError::Busy { device: self.name() })?;
        let bases = self.bases(run.slot);
        let matching = loaded.imports.len() == imports.len();
        for (index, (placed, bytes)) in loaded.imports.iter().zip(imports).enumerate() {
            match self.arena.get_mut(bases.range(placed, &counts)) {
                Some(to) if to.len() == bytes.len() => to.copy_from_slice(bytes),
                Some(_) | None => return Err(self.unknown("import of this size", index as u64)),
            }
        }
        if !matching {
            return Err(self.unknown("number of imports", imports.len() as u64));
        }
        Ok(self.steps.submitted(run, inputs))
    }

    /// Runs all steps up to `ticket`.
    pub(super) fn finish(
        &mut self,
        ticket: &Ticket,
        limit: &Limit<'_>,
    ) -> Result<Done, DeviceError> {
        while let Some((run, inputs)) = self.steps.pop_until(ticket) {
            match self.run(run, &inputs, limit) {
                // A step that nobody waits for any more may fail by itself.
                Err(_) if run.ticket < ticket.0 => {}
                result => result?,
            }
        }
        let unknown = self.unknown("ticket", ticket.0);
        self.steps.done(ticket).ok_or(unknown)
    }

    fn run(&mut self, run: StepRun, inputs: &Inputs, limit: &Limit<'_>) -> Result<(), DeviceError> {
        let why = Cell::new(None);
        let stop = || {
            if why.get().is_none() {
                why.set((limit.stop)());
            }
            why.get().is_some()
        };
        let mut launches = Vec::new();
        let result = self.launches(run, inputs, &stop, &mut launches);
        match result {
            Ok(()) => {}
            Err(Fault::Stopped) => {
                return Err(match why.get() {
                    Some(Stop::Deadline) => {
                        DeviceError::Deadline { device: self.name(), recent: self.recent() }
                    }
                    Some(Stop::Cancelled) | None => DeviceError::Cancelled,
                });
            }
            Err(Fault::Failed(reason)) => {
                let (device, recent) = (self.name(), self.recent());
                return Err(DeviceError::Failed { device, reason, recent });
            }
        }
        let bases = self.bases(run.slot);
        let ids = self.loaded[run.split].ids.map(|placed| {
            let range = bases.range(&placed, &run.counts);
            bytemuck::cast_slice(self.arena.get(range).unwrap_or_default())
        });
        self.steps.finish(run, ids, Done { launches, ..Done::default() });
        Ok(())
    }

    /// Every launch of a step, in order.
    fn launches(
        &mut self,
        run: StepRun,
        inputs: &Inputs,
        stop: &dyn Fn() -> bool,
        launches: &mut Vec<LaunchTime>,
    ) -> Result<(), Fault> {
        if let Some(Owed { ticket, row, .. }) = self.steps.resolve(inputs, &mut self.tokens).first()
        {
            return Err(Fault::Failed(format!(
                "a token is row {row} of step {ticket}, which left no ids"
            )));
        }
        let (bases, counts) = (self.bases(run.slot), &run.counts);
        let loaded = &self.loaded[run.split];
        let (_, states) = &mut self.states[loaded.state.0 as usize];
        let step = StepData { tokens: &self.tokens, inputs };
        let workers = Workers { pool: &self.pool, stop };
        for (index, prepared) in loaded.steps.iter().enumerate() {
            if stop() {
                return Err(Fault::Stopped);
            }
            self.trail.push(run.split, index);
            let start = inputs.profile.then(Instant::now);
            let mut reads = [const { None }; MAX_VIEWS];
            for (read, placed) in reads.iter_mut().zip(&prepared.reads) {
                *read = placed.as_ref().map(|placed| bases.range(placed, counts));
            }
            let mut writes = [const { 0..0 }; MAX_VIEWS];
            for (write, placed) in writes.iter_mut().zip(&prepared.writes) {
                *write = bases.range(placed, counts);
            }
            if let Some((offset, bytes)) = prepared.scratch {
                writes[prepared.writes.len()] = offset..offset + bytes;
            }
            let views = self.arena.lend(&writes, &reads).map_err(Fault::Failed)?;
            let graph = &*loaded.split.graph;
            kernels::run(&mut Call {
                graph,
                node: &graph.nodes[loaded.split.steps[index].node.0 as usize],
                counts: *counts,
                step,
                weights: &self.weights,
                states,
                rotations: &mut self.rotations,
                lists: &mut self.lists,
                simd: self.simd,
                workers,
                views,
            })?;
            if let Some(start) = start {
                let nanoseconds = start.elapsed().as_nanos() as u64;
                launches.push(LaunchTime { step: index, nanoseconds, encoding: 0 });
            }
        }
        Ok(())
    }

    /// Names of the last launches, newest last.
    fn recent(&self) -> Vec<String> {
        self.trail.names(|split| &self.loaded[split].split)
    }
}
