//! Steps on their way: encoded, committed, finished.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use minfer_graph::{Counts, Input};
use minfer_plan::{DeviceError, Done, Inputs, Limit, LoadedSplit, Place, Stop, Ticket, TokenInput};

use super::prepare::{Bound, Loaded, Prepared};
use super::state::States;
use super::{Metal, SLOTS};
use crate::sys::{Buffer, Commands, Completion, ComputePass};

/// Finished steps whose ids can still be referred to.
const KEPT_IDS: usize = 4;

/// Launches named when a step fails.
const TRAIL: usize = 16;

/// How often a wait asks its limit.
const POLL: Duration = Duration::from_millis(2);

/// A step that was committed.
struct Pending {
    ticket: u64,
    split: usize,
    slot: usize,
    counts: Counts,
    completion: Completion,
}

/// A step that ran to its end.
pub(super) struct Finished {
    ticket: u64,
    pub(super) split: usize,
    pub(super) slot: usize,
    pub(super) counts: Counts,
}

/// All steps that the device knows of. Tickets count up from 1; their parity is the slot.
#[derive(Default)]
pub(super) struct Slots {
    last: u64,
    /// The split that was submitted last.
    latest: Option<usize>,
    pending: VecDeque<Pending>,
    finished: VecDeque<Finished>,
    /// Largest logits of late steps, by ticket.
    ids: VecDeque<(u64, Vec<i32>)>,
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

    /// The last launches of the step that was submitted last, newest last.
    pub(super) fn recent(&self, loaded: &[Loaded]) -> Vec<String> {
        let Some(loaded) = self.latest.and_then(|split| loaded.get(split)) else {
            return Vec::new();
        };
        let launches = &loaded.prepared[loaded.prepared.len().saturating_sub(TRAIL)..];
        let name = |launch: &Prepared| {
            let node = loaded.split.node(&loaded.split.steps[launch.step]);
            format!("{} ({})", node.name, launch.dispatch.kernel)
        };
        launches.iter().map(name).collect()
    }
}

/// A promised id: where it is, and which token of the step it becomes.
struct Promise {
    slot: usize,
    offset: usize,
    token: usize,
}

impl Metal {
    /// Encodes a step and commits it.
    pub(super) fn accept(
        &mut self,
        split: LoadedSplit,
        inputs: &Inputs,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        if self.slots.pending.len() == SLOTS {
            return Err(DeviceError::Busy { device: self.name() });
        }
        let index = split.0 as usize;
        if index >= self.loaded.len() {
            return Err(self.unknown("split", u64::from(split.0)));
        }
        let ticket = self.slots.last + 1;
        let slot = (ticket % SLOTS as u64) as usize;
        let counts = inputs.counts();
        // What the step before last left in this slot can no longer be read.
        self.slots.finished.retain(|finished| finished.slot != slot);
        self.import(index, slot, &counts, imports)?;
        let (tokens, promises) = self.tokens(inputs)?;
        let loaded = &self.loaded[index];
        let shape = &loaded.split.graph.tables.shape;
        let area = &mut self.inputs[slot];
        if !area.fill(&self.gpu, &loaded.inputs, shape, inputs, &tokens) {
            return Err(self.no_memory("step inputs", 4 * tokens.len()));
        }
        let commands = Commands::new(&self.gpu).ok_or_else(|| self.failed("no command buffer"))?;
        self.copy_promises(&commands, slot, &promises)?;
        self.encode(&commands, index, slot, &counts)?;
        let completion = commands.commit();
        (self.slots.last, self.slots.latest) = (ticket, Some(index));
        self.slots.pending.push_back(Pending { ticket, split: index, slot, counts, completion });
        Ok(Ticket(ticket))
    }

    fn import(
        &mut self,
        index: usize,
        slot: usize,
        counts: &Counts,
        imports: &[&[u8]],
    ) -> Result<(), DeviceError> {
        let expected = self.loaded[index].imports.clone();
        if expected.len() != imports.len() {
            return Err(self.unknown("number of imports", imports.len() as u64));
        }
        for (number, (placed, bytes)) in expected.iter().zip(imports).enumerate() {
            let range = placed.range(counts);
            let written = range.len() == bytes.len()
                && self.staging[slot].as_mut().is_some_and(|to| to.write(range.start, bytes));
            if !written {
                return Err(self.unknown("import of this size", number as u64));
            }
        }
        Ok(())
    }

    /// The ids of a step, and those that an unfinished step still owes.
    fn tokens(&self, inputs: &Inputs) -> Result<(Vec<i32>, Vec<Promise>), DeviceError> {
        let (mut tokens, mut promises) = (Vec::with_capacity(inputs.tokens.len()), Vec::new());
        for (at, token) in inputs.tokens.iter().enumerate() {
            tokens.push(match *token {
                TokenInput::Known(id) => id as i32,
                TokenInput::From { ticket, row } => {
                    let row = row as usize;
                    let kept = self.slots.ids.iter().find(|(known, _)| *known == ticket);
                    match kept.and_then(|(_, ids)| ids.get(row)) {
                        Some(id) => *id,
                        None => {
                            let promise = self.promise(ticket, row, at);
                            promises.push(promise.ok_or_else(|| {
                                self.failed(format!(
                                    "a token is row {row} of step {ticket}, which left no ids"
                                ))
                            })?);
                            -1
                        }
                    }
                }
            });
        }
        Ok((tokens, promises))
    }

    fn promise(&self, ticket: u64, row: usize, token: usize) -> Option<Promise> {
        let pending = self.slots.pending.iter().find(|pending| pending.ticket == ticket)?;
        let ids = self.loaded[pending.split].ids?;
        let range = ids.range(&pending.counts);
        let offset = range.start + 4 * row;
        let staged = matches!(ids.place, Place::Staging(_)) && offset + 4 <= range.end;
        staged.then_some(Promise { slot: pending.slot, offset, token })
    }

    fn copy_promises(
        &self,
        commands: &Commands,
        slot: usize,
        promises: &[Promise],
    ) -> Result<(), DeviceError> {
        if promises.is_empty() {
            return Ok(());
        }
        let copies: Option<Vec<_>> = promises
            .iter()
            .map(|promise| {
                let source = self.staging[promise.slot].as_ref()?;
                let (target, place) = self.inputs[slot].place(Input::Tokens)?;
                Some(((source, promise.offset), (target, place.start + 4 * promise.token), 4))
            })
            .collect();
        let copied = copies.is_some_and(|copies| commands.copy(&copies));
        if copied { Ok(()) } else { Err(self.failed("promised token ids could not be copied")) }
    }

    /// Encodes every launch of a split.
    fn encode(
        &self,
        commands: &Commands,
        index: usize,
        slot: usize,
        counts: &Counts,
    ) -> Result<(), DeviceError> {
        let loaded = &self.loaded[index];
        let (_, states) = &self.states[loaded.state.0 as usize];
        let pass = commands.compute().ok_or_else(|| self.failed("no compute encoder"))?;
        let mut barrier = false;
        for launch in &loaded.prepared {
            barrier |= launch.barrier;
            let dispatch = &launch.dispatch;
            let rows = dispatch.grid.rows.live(counts);
            if rows == 0 {
                continue;
            }
            if std::mem::take(&mut barrier) {
                pass.barrier();
            }
            let bound = self.bind(&pass, launch, states, slot, counts);
            let pipeline = self.pipelines.get(&dispatch.kernel);
            let (Some(pipeline), true) = (pipeline, bound) else {
                pass.end();
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
        }
        pass.end();
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
        let slice = |at: usize, buffer: Option<&Buffer>, range: std::ops::Range<usize>| {
            buffer.is_some_and(|buffer| pass.bind(at, buffer, range.start, range.len()))
        };
        launch.bound.iter().enumerate().all(|(at, bound)| match bound {
            Bound::Value(placed) => {
                let area = match placed.place {
                    Place::Arena(_) => self.arena.as_ref(),
                    Place::Staging(_) => self.staging[slot].as_ref(),
                };
                slice(at, area, placed.range(counts))
            }
            Bound::Input(input) => {
                let place = self.inputs[slot].place(*input);
                place.is_some_and(|(buffer, range)| slice(at, Some(buffer), range))
            }
            Bound::Weight(region, range) => slice(at, self.regions.get(*region), range.clone()),
            Bound::Keys(id) => states
                .pool(*id)
                .is_some_and(|pool| slice(at, Some(&pool.key.buffer), 0..pool.key.buffer.len())),
            Bound::Values(id) => states.pool(*id).is_some_and(|pool| {
                slice(at, Some(&pool.value.buffer), 0..pool.value.buffer.len())
            }),
            Bound::Scratch(range) => slice(at, self.arena.as_ref(), range.clone()),
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

    /// Waits for all steps up to `ticket`.
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
            match self.end_of(&pending, limit) {
                Ok(()) => self.keep(&pending),
                // A step that nobody waits for any more may fail by itself.
                Err(_) if next < ticket.0 => {}
                Err(error) => return Err(error),
            }
        }
        let finished = self.slots.finished(ticket.0).is_some();
        if !finished {
            return Err(self.unknown("ticket", ticket.0));
        }
        Ok(Done { ticket: ticket.0, launches: Vec::new() })
    }

    /// Waits for a committed step. A GPU cannot be stopped, so one that is to stop is waited for
    /// all the same, and its result left.
    fn end_of(&self, pending: &Pending, limit: &Limit<'_>) -> Result<(), DeviceError> {
        let (start, mut stop) = (Instant::now(), None);
        loop {
            if let Some(ended) = pending.completion.wait(POLL) {
                return match (ended, stop) {
                    (Err(reason), _) => Err(self.failed(reason)),
                    (Ok(()), None) => Ok(()),
                    (Ok(()), Some(Stop::Cancelled)) => Err(DeviceError::Cancelled),
                    (Ok(()), Some(Stop::Deadline)) => Err(self.late()),
                };
            }
            if start.elapsed() > self.options.deadline {
                return Err(self.late());
            }
            stop = stop.or_else(|| (limit.stop)());
        }
    }

    fn late(&self) -> DeviceError {
        DeviceError::Deadline { device: self.name(), recent: self.slots.recent(&self.loaded) }
    }

    /// Notes that a step has ended well, and its ids.
    fn keep(&mut self, pending: &Pending) {
        let Pending { ticket, split, slot, counts, .. } = *pending;
        self.slots.finished.push_back(Finished { ticket, split, slot, counts });
        let ids = self.loaded[split].ids.map(|placed| placed.range(&counts));
        let bytes = ids.and_then(|range| self.staging[slot].as_ref()?.bytes(range));
        let Some(bytes) = bytes else { return };
        let words = bytes.as_chunks::<4>().0.iter();
        let ids = words.map(|word| i32::from_le_bytes(*word)).collect();
        if self.slots.ids.len() == KEPT_IDS {
            self.slots.ids.pop_front();
        }
        self.slots.ids.push_back((ticket, ids));
    }
}
