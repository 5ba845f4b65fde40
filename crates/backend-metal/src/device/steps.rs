//! Steps on their way: encoded, committed, finished.

use std::ops::Range;
use std::time::{Duration, Instant};

use minfer_graph::Input;
use minfer_plan::{
    DeviceError, Done, Inputs, LaunchTime, Limit, LoadedSplit, Owed, Place, StepRun, Stop, Ticket,
};

use super::Metal;
use crate::pieces::pieces;
use crate::sys::{Buffer, Commands, Completion};

/// How often a wait asks its limit.
const POLL: Duration = Duration::from_millis(2);

/// A committed command buffer.
pub(super) struct Piece {
    /// Steps of the split that it runs.
    steps: Range<usize>,
    completion: Completion,
    /// Nanoseconds in which the host encoded each of them.
    encoding: Vec<u64>,
}

/// What a submitted step comes to.
pub(super) struct Work {
    pieces: Vec<Piece>,
    profile: bool,
}

/// What is known of a wait.
#[derive(Default)]
struct Waited {
    stop: Option<Stop>,
    time: Duration,
}

impl Metal {
    /// Encodes a step and commits it.
    pub(super) fn accept(
        &mut self,
        split: LoadedSplit,
        inputs: &Inputs,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        let index = split.0 as usize;
        if index >= self.loaded.len() {
            return Err(self.unknown("split", u64::from(split.0)));
        }
        let run = self.steps.next(index, inputs.counts());
        let run = run.ok_or_else(|| DeviceError::Busy { device: self.name() })?;
        self.trace()?;
        self.wire();
        self.import(&run, imports)?;
        let mut tokens = Vec::with_capacity(inputs.tokens.len());
        let owed = self.steps.resolve(inputs, &mut tokens);
        let loaded = &self.loaded[index];
        let shape = &loaded.split.graph.tables.shape;
        let area = &mut self.areas.inputs[run.slot];
        if let Err(bytes) = area.fill(&self.gpu, &loaded.inputs, shape, inputs, &tokens) {
            return Err(self.no_memory("step inputs", bytes));
        }
        let limits = self.target.limits();
        let cut = pieces(&loaded.split, inputs, limits, self.options.command_buffer);
        let mut work = Work { pieces: Vec::with_capacity(cut.len()), profile: inputs.profile };
        for steps in cut {
            let commands = self.commands()?;
            if work.pieces.is_empty() {
                self.copy_owed(&commands, run.slot, &owed)?;
            }
            let encoding = self.encode(&commands, &run, &steps)?;
            work.pieces.push(Piece { steps, completion: commands.commit(), encoding });
        }
        Ok(self.steps.submitted(run, work))
    }

    pub(super) fn commands(&self) -> Result<Commands, DeviceError> {
        Commands::new(&self.gpu).ok_or_else(|| self.failed("no command buffer"))
    }

    fn import(&mut self, run: &StepRun, imports: &[&[u8]]) -> Result<(), DeviceError> {
        let expected = self.loaded[run.split].imports.clone();
        if expected.len() != imports.len() {
            return Err(self.unknown("number of imports", imports.len() as u64));
        }
        for (number, (placed, bytes)) in expected.iter().zip(imports).enumerate() {
            let range = placed.live(&run.counts);
            let written = range.len() == bytes.len()
                && self.areas.staging[run.slot]
                    .as_mut()
                    .is_some_and(|to| to.write(range.start, bytes));
            if !written {
                return Err(self.unknown("import of this size", number as u64));
            }
        }
        Ok(())
    }

    /// Encodes copies of ids that an unfinished step still owes.
    fn copy_owed(
        &self,
        commands: &Commands,
        slot: usize,
        owed: &[Owed],
    ) -> Result<(), DeviceError> {
        let mut copies = Vec::with_capacity(owed.len());
        for owed in owed {
            let copy = self.copy_of(slot, owed).ok_or_else(|| {
                let Owed { ticket, row, .. } = owed;
                self.failed(format!("a token is row {row} of step {ticket}, which left no ids"))
            })?;
            copies.push(copy);
        }
        let copied = commands.copy(&copies);
        if copied { Ok(()) } else { Err(self.failed("promised token ids could not be copied")) }
    }

    fn copy_of(&self, slot: usize, owed: &Owed) -> Option<super::state::Copy<'_>> {
        let source = self.steps.pending(owed.ticket)?;
        let ids = self.loaded[source.split].ids?;
        let range = ids.live(&source.counts);
        let offset = range.start + 4 * owed.row;
        let staged = matches!(ids.place, Place::Staging(_)) && offset + 4 <= range.end;
        let (target, place) = self.areas.inputs[slot].place(Input::Tokens)?;
        let from: (&Buffer, usize) = (self.areas.staging[source.slot].as_ref()?, offset);
        staged.then_some((from, (target, place.start + 4 * owed.token), 4))
    }

    /// Waits for all steps up to `ticket`.
    pub(super) fn finish(
        &mut self,
        ticket: &Ticket,
        limit: &Limit<'_>,
    ) -> Result<Done, DeviceError> {
        for copy in std::mem::take(&mut self.copies) {
            self.end_of(&copy, limit, &mut Waited::default())?;
        }
        while let Some((run, work)) = self.steps.pop_until(ticket) {
            match self.end(&run, &work, limit) {
                Ok(done) => self.keep(run, done),
                // A step that nobody waits for any more may fail by itself.
                Err(_) if run.ticket < ticket.0 => {}
                Err(error) => return Err(error),
            }
        }
        let done = self.steps.done(ticket);
        done.ok_or_else(|| self.unknown("ticket", ticket.0))
    }

    /// Waits for a committed step. A GPU cannot be stopped, so one that is to stop is waited for
    /// all the same, and its result left.
    fn end(&mut self, run: &StepRun, work: &Work, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        let (mut waited, mut launches) = (Waited::default(), Vec::new());
        for piece in &work.pieces {
            for step in piece.steps.clone() {
                self.trail.push(run.split, step);
            }
            let time = self.end_of(&piece.completion, limit, &mut waited)?;
            if work.profile {
                launches.extend(times(piece, time));
            }
        }
        match waited.stop {
            None => {
                let waited = waited.time.as_nanos() as u64;
                Ok(Done { ticket: run.ticket, launches, waited })
            }
            Some(Stop::Cancelled) => Err(DeviceError::Cancelled),
            Some(Stop::Deadline) => Err(self.late()),
        }
    }

    /// Waits for a command buffer, for as long as the deadline says; gives the GPU's time.
    fn end_of(
        &self,
        completion: &Completion,
        limit: &Limit<'_>,
        waited: &mut Waited,
    ) -> Result<Duration, DeviceError> {
        let start = Instant::now();
        let result = loop {
            if let Some(ended) = completion.wait(POLL) {
                break ended.map_err(|reason| self.failed(reason));
            }
            if start.elapsed() > self.options.deadline {
                break Err(self.late());
            }
            waited.stop = waited.stop.or_else(|| (limit.stop)());
        };
        waited.time += start.elapsed();
        result
    }

    fn late(&self) -> DeviceError {
        DeviceError::Deadline { device: self.name(), recent: self.recent() }
    }

    /// Notes that a step has ended well, and its ids.
    fn keep(&mut self, run: StepRun, done: Done) {
        let ids = self.loaded[run.split].ids.and_then(|placed| {
            let staging = self.areas.staging[run.slot].as_ref()?;
            integers(staging, placed.live(&run.counts))
        });
        self.steps.finish(run, ids.as_deref(), done);
    }
}

fn integers(buffer: &Buffer, range: Range<usize>) -> Option<Vec<i32>> {
    let words = buffer.bytes(range)?.as_chunks::<4>().0.iter();
    Some(words.map(|word| i32::from_le_bytes(*word)).collect())
}

/// Times of the steps of a command buffer; where it has several, each gets an equal share.
fn times(piece: &Piece, time: Duration) -> impl Iterator<Item = LaunchTime> {
    let share = time.as_nanos() as u64 / piece.steps.len().max(1) as u64;
    let steps = piece.steps.clone().zip(&piece.encoding);
    steps.map(move |(step, encoding)| LaunchTime { step, nanoseconds: share, encoding: *encoding })
}
