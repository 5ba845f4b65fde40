//! What every device keeps of its steps: tickets, results that may still be read, ids that later
//! steps refer to, the last launches.

use std::collections::VecDeque;
use std::sync::Arc;

use minfer_graph::Counts;

use super::{Done, Ticket};
use crate::inputs::{Inputs, TokenInput};
use crate::program::Split;

/// Steps in flight, and areas that each of them has for itself.
pub const IN_FLIGHT: usize = 2;

/// Finished steps whose ids can still be referred to.
const KEPT_IDS: usize = 4;

/// Launches named when a step fails.
const TRAIL: usize = 16;

/// A step: what it runs, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRun {
    /// Its ticket's number.
    pub ticket: u64,
    /// Index of the loaded split.
    pub split: usize,
    /// Which of the [`IN_FLIGHT`] areas it has.
    pub slot: usize,
    /// Its rows.
    pub counts: Counts,
}

/// A token id that a step in flight still owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owed {
    /// Token row that waits for it.
    pub token: usize,
    /// The step that has it.
    pub ticket: u64,
    /// Index among the ids of that step.
    pub row: usize,
}

/// The steps that a device knows of; `W` is what it keeps of one that was submitted. Tickets count
/// up from 1.
#[derive(Debug)]
pub struct Steps<W> {
    last: u64,
    pending: VecDeque<(StepRun, W)>,
    finished: VecDeque<(StepRun, Done)>,
    /// Largest logits of late steps, by ticket.
    ids: VecDeque<(u64, Vec<i32>)>,
}

impl<W> Default for Steps<W> {
    fn default() -> Steps<W> {
        Steps { last: 0, pending: VecDeque::new(), finished: VecDeque::new(), ids: VecDeque::new() }
    }
}

impl<W> Steps<W> {
    /// The next step; `None` while two are in flight. What the step before last left in its slot
    /// can no longer be read.
    pub fn next(&mut self, split: usize, counts: Counts) -> Option<StepRun> {
        if self.pending.len() == IN_FLIGHT {
            return None;
        }
        let ticket = self.last + 1;
        let slot = (ticket % IN_FLIGHT as u64) as usize;
        self.finished.retain(|(finished, _)| finished.slot != slot);
        Some(StepRun { ticket, split, slot, counts })
    }

    /// Notes that the step which [`Steps::next`] gave is on its way.
    pub fn submitted(&mut self, run: StepRun, work: W) -> Ticket {
        self.last = run.ticket;
        self.pending.push_back((run, work));
        Ticket(run.ticket)
    }

    /// The oldest step in flight, if it is not younger than a ticket.
    pub fn pop_until(&mut self, ticket: &Ticket) -> Option<(StepRun, W)> {
        let (next, _) = self.pending.front()?;
        if next.ticket > ticket.0 { None } else { self.pending.pop_front() }
    }

    /// A step in flight.
    pub fn pending(&self, ticket: u64) -> Option<StepRun> {
        self.pending.iter().map(|(run, _)| *run).find(|run| run.ticket == ticket)
    }

    /// Notes that a step ran to its end, with the ids that it leaves to later ones.
    pub fn finish(&mut self, run: StepRun, ids: Option<&[i32]>, done: Done) {
        if let Some(ids) = ids {
            let oldest = (self.ids.len() == KEPT_IDS).then(|| self.ids.pop_front()).flatten();
            let mut kept = oldest.unwrap_or_default();
            kept.0 = run.ticket;
            kept.1.clear();
            kept.1.extend_from_slice(ids);
            self.ids.push_back(kept);
        }
        self.finished.push_back((run, done));
    }

    /// A step whose results can be read.
    pub fn finished(&self, ticket: u64) -> Option<StepRun> {
        self.finished.iter().map(|(run, _)| *run).find(|run| run.ticket == ticket)
    }

    /// What such a step is handed out with.
    pub fn done(&mut self, ticket: &Ticket) -> Option<Done> {
        let (run, done) = self.finished.iter_mut().find(|(run, _)| run.ticket == ticket.0)?;
        Some(Done { ticket: run.ticket, ..std::mem::take(done) })
    }

    /// Writes a step's token ids into `tokens`, -1 for those that no finished step has left, and
    /// gives these.
    pub fn resolve(&self, inputs: &Inputs, tokens: &mut Vec<i32>) -> Vec<Owed> {
        let mut owed = Vec::new();
        tokens.clear();
        for (token, input) in inputs.tokens.iter().enumerate() {
            tokens.push(match *input {
                TokenInput::Known(id) => id as i32,
                TokenInput::From { ticket, row } => {
                    let row = row as usize;
                    let left = self.ids.iter().find(|(known, _)| *known == ticket);
                    left.and_then(|(_, ids)| ids.get(row)).copied().unwrap_or_else(|| {
                        owed.push(Owed { token, ticket, row });
                        -1
                    })
                }
            });
        }
        owed
    }

    /// Forgets all steps; tickets go on counting.
    pub fn clear(&mut self) {
        self.pending.clear();
        self.finished.clear();
        self.ids.clear();
    }
}

/// The last launches of a device, as (split, step).
#[derive(Debug, Default)]
pub struct Trail(VecDeque<(usize, usize)>);

impl Trail {
    /// Notes one.
    pub fn push(&mut self, split: usize, step: usize) {
        if self.0.len() == TRAIL {
            self.0.pop_front();
        }
        self.0.push_back((split, step));
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Their nodes and kernels, newest last.
    pub fn names<'s>(&self, split: impl Fn(usize) -> &'s Arc<Split>) -> Vec<String> {
        let name = |&(index, step): &(usize, usize)| {
            let split = split(index);
            let step = &split.steps[step];
            format!("{} ({})", split.node(step).name, step.launch.kernel)
        };
        self.0.iter().map(name).collect()
    }
}
