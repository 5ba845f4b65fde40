//! Steps on their way: submitted, run launch by launch, finished.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use minfer_graph::Counts;
use minfer_plan::{
    DeviceError, Done, Inputs, LaunchTime, Limit, LoadedSplit, Stop, Ticket, TokenInput,
};

use super::Cpu;
use crate::call::{Call, StepData};
use crate::kernels;
use crate::sys::{Fault, MAX_VIEWS, Workers};

/// Steps in flight.
const IN_FLIGHT: usize = 2;

/// Finished steps whose ids can still be referred to.
const KEPT_IDS: usize = 4;

/// Launches named when a step fails.
const TRAIL: usize = 16;

/// A submitted step.
#[derive(Debug)]
struct Pending {
    ticket: u64,
    split: usize,
    slot: usize,
    inputs: Arc<Inputs>,
}

/// A step that ran to its end.
#[derive(Debug)]
pub(super) struct Finished {
    ticket: u64,
    pub(super) split: usize,
    pub(super) slot: usize,
    pub(super) counts: Counts,
    launches: Vec<LaunchTime>,
}

/// All steps that the device knows of. Tickets count up from 1; their parity is the staging slot.
#[derive(Debug, Default)]
pub(super) struct Slots {
    last: u64,
    pending: VecDeque<Pending>,
    finished: VecDeque<Finished>,
    /// Largest logits of late steps, by ticket.
    ids: VecDeque<(u64, Vec<i32>)>,
    /// The resolved token ids of the step that runs.
    tokens: Vec<i32>,
}

impl Slots {
    pub(super) fn finished(&self, ticket: u64) -> Option<&Finished> {
        self.finished.iter().find(|finished| finished.ticket == ticket)
    }

    /// Forgets all steps; tickets go on counting.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
        self.finished.clear();
        self.ids.clear();
    }

    fn keep_ids(&mut self, ticket: u64, ids: &[i32]) {
        let mut kept = if self.ids.len() == KEPT_IDS { self.ids.pop_front() } else { None }
            .unwrap_or_default();
        kept.0 = ticket;
        kept.1.clear();
        kept.1.extend_from_slice(ids);
        self.ids.push_back(kept);
    }

    /// Resolves the token ids of a step.
    fn resolve(&mut self, inputs: &Inputs) -> Result<(), Fault> {
        self.tokens.clear();
        for token in &inputs.tokens {
            let id = match *token {
                TokenInput::Known(id) => id as i32,
                TokenInput::From { ticket, row } => {
                    let ids = self.ids.iter().find(|(known, _)| *known == ticket);
                    let id = ids.and_then(|(_, ids)| ids.get(row as usize));
                    *id.ok_or_else(|| {
                        Fault::Failed(format!(
                            "a token is row {row} of step {ticket}, which left no ids"
                        ))
                    })?
                }
            };
            self.tokens.push(id);
        }
        Ok(())
    }
}

/// The last launches, as (split, step).
#[derive(Debug, Default)]
pub(super) struct Trail(VecDeque<(usize, usize)>);

impl Trail {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn push(&mut self, split: usize, step: usize) {
        if self.0.len() == TRAIL {
            self.0.pop_front();
        }
        self.0.push_back((split, step));
    }
}

impl Cpu {
    /// Takes a step in.
    pub(super) fn accept(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        if self.slots.pending.len() == IN_FLIGHT {
            return Err(DeviceError::Busy { device: self.name() });
        }
        let index = split.0 as usize;
        let loaded = self.loaded.get(index);
        let loaded = loaded.ok_or_else(|| self.unknown("split", u64::from(split.0)))?;
        let ticket = self.slots.last + 1;
        let slot = (ticket % 2) as usize;
        let (bases, counts) = (self.bases(slot), inputs.counts());
        // What the step before last left in this staging slot can no longer be read.
        self.slots.finished.retain(|finished| finished.slot != slot);
        let matching = loaded.imports.len() == imports.len();
        for (index, (placed, bytes)) in loaded.imports.iter().zip(imports).enumerate() {
            match self.arena.get_mut(placed.range(bases, &counts)) {
                Some(to) if to.len() == bytes.len() => to.copy_from_slice(bytes),
                Some(_) | None => return Err(self.unknown("import of this size", index as u64)),
            }
        }
        if !matching {
            return Err(self.unknown("number of imports", imports.len() as u64));
        }
        self.slots.last = ticket;
        self.slots.pending.push_back(Pending { ticket, split: index, slot, inputs });
        Ok(Ticket(ticket))
    }

    /// Runs all steps up to `ticket`.
    pub(super) fn finish(
        &mut self,
        ticket: &Ticket,
        limit: &Limit<'_>,
    ) -> Result<Done, DeviceError> {
        while let Some(next) = self.slots.pending.front().map(|pending| pending.ticket) {
            if next > ticket.0 {
                break;
            }
            let Some(pending) = self.slots.pending.pop_front() else { break };
            let result = self.run(&pending, limit);
            match result {
                Ok(finished) => self.slots.finished.push_back(finished),
                // A step that nobody waits for any more may fail by itself.
                Err(_) if next < ticket.0 => {}
                Err(error) => return Err(error),
            }
        }
        let unknown = self.unknown("ticket", ticket.0);
        let finished = self.slots.finished.iter_mut().find(|f| f.ticket == ticket.0);
        let finished = finished.ok_or(unknown)?;
        Ok(Done { ticket: ticket.0, launches: std::mem::take(&mut finished.launches) })
    }

    fn run(&mut self, pending: &Pending, limit: &Limit<'_>) -> Result<Finished, DeviceError> {
        let counts = pending.inputs.counts();
        let why = Cell::new(None);
        let stop = || {
            if why.get().is_none() {
                why.set((limit.stop)());
            }
            why.get().is_some()
        };
        let mut launches = Vec::new();
        let result = self.launches(pending, &counts, &stop, &mut launches);
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
        if let Some(placed) = self.loaded[pending.split].ids {
            let range = placed.range(self.bases(pending.slot), &counts);
            let bytes = self.arena.get(range).unwrap_or_default();
            self.slots.keep_ids(pending.ticket, bytemuck::cast_slice(bytes));
        }
        let Pending { ticket, split, slot, .. } = *pending;
        Ok(Finished { ticket, split, slot, counts, launches })
    }

    /// Every launch of a step, in order.
    fn launches(
        &mut self,
        pending: &Pending,
        counts: &Counts,
        stop: &dyn Fn() -> bool,
        launches: &mut Vec<LaunchTime>,
    ) -> Result<(), Fault> {
        self.slots.resolve(&pending.inputs)?;
        let bases = self.bases(pending.slot);
        let loaded = &self.loaded[pending.split];
        let (_, states) = &mut self.states[loaded.state.0 as usize];
        let step = StepData { tokens: &self.slots.tokens, inputs: &pending.inputs };
        let workers = Workers { pool: &self.pool, stop };
        for (index, prepared) in loaded.steps.iter().enumerate() {
            if stop() {
                return Err(Fault::Stopped);
            }
            self.trail.push(pending.split, index);
            let start = pending.inputs.profile.then(Instant::now);
            let mut reads = [const { None }; MAX_VIEWS];
            for (read, placed) in reads.iter_mut().zip(&prepared.reads) {
                *read = placed.as_ref().map(|placed| placed.range(bases, counts));
            }
            let mut writes = [const { 0..0 }; MAX_VIEWS];
            for (write, placed) in writes.iter_mut().zip(&prepared.writes) {
                *write = placed.range(bases, counts);
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
                launches.push(LaunchTime { step: index, nanoseconds });
            }
        }
        Ok(())
    }

    /// Names of the last launches, newest last.
    fn recent(&self) -> Vec<String> {
        let name = |&(split, step): &(usize, usize)| {
            let split = &self.loaded[split].split;
            let step = &split.steps[step];
            format!("{} ({})", split.node(step).name, step.launch.kernel)
        };
        self.trail.0.iter().map(name).collect()
    }
}
