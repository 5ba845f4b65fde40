//! Steps on their way. On a device that works while the host goes on, the next step begins before
//! the one before it is known: with what follows in prompts, and with the tokens of the largest
//! logits that this one is about to give.
//!
//! The host reads what the step gave while the next one runs, and chooses as it always does: from
//! all logits where a row needs them, else from the largest ones, which the device has found.
//! A sequence that ended, or whose choice is another token, leaves its row of the next step unused;
//! what that row stored in the sequence's own pages is written again or released. Devices work in
//! the order of submits, so a page that changes hands is written by its new owner last.

use minfer_graph::{Counts, Want};
use minfer_plan::{Device, Limit, RunTicket, StepOutputs, TokenInput};

use crate::batch::{self, StepRows};
use crate::engine::Engine;
use crate::error::Error;
use crate::programs::ProgramKey;
use crate::sampling::{Row, Sampled};
use crate::scheduler::{Schedule, ScheduledRows, SequenceId};
use crate::sequence::Limits;
use crate::step::{add_profile, check_faults};

/// Whether a device of these lets steps begin ahead: it is alone, so that no other's part of the
/// step is waited for.
pub(crate) fn overlaps(devices: &[Box<dyn Device>]) -> bool {
    matches!(devices, [device] if device.target().caps().overlaps)
}

/// Rows of one sequence in a step on its way.
#[derive(Clone, Copy, Debug)]
struct FlyingRows {
    rows: ScheduledRows,
    /// Its output row, where a token is to be chosen after it.
    output: Option<usize>,
    /// Its token is one that the step before it was about to give.
    promised: bool,
    /// Computed for another token than was chosen: the results are of no use.
    stale: bool,
}

/// A step on its way.
#[derive(Debug)]
pub(crate) struct Flight {
    rows: Vec<FlyingRows>,
    key: ProgramKey,
    counts: Counts,
    ticket: RunTicket,
}

/// What a step came to: a token for each sequence whose newest token it computed, and the id that
/// the device took for the largest of each output row, where the next step has begun with it.
#[derive(Debug, Default)]
pub(crate) struct Landed {
    pub(crate) choices: Vec<(SequenceId, Result<Sampled, Error>)>,
    pub(crate) ids: Vec<i32>,
}

impl Flight {
    /// The rows that are of use.
    pub(crate) fn schedule(&self) -> Schedule {
        let rows = self.rows.iter().filter(|flying| !flying.stale).map(|flying| flying.rows);
        Schedule { kind: self.key.kind, rows: rows.collect(), copies: Vec::new() }
    }

    fn output(&self, sequence: SequenceId) -> Option<usize> {
        self.rows.iter().find(|flying| flying.rows.sequence == sequence)?.output
    }

    /// The sequence of each output row.
    pub(crate) fn outputs(&self) -> Vec<SequenceId> {
        let outputs = self.rows.iter().filter(|flying| flying.output.is_some());
        outputs.map(|flying| flying.rows.sequence).collect()
    }

    /// Puts promises of this step's ids in the places of tokens that are not known.
    fn promise(&self, rows: &[FlyingRows], tokens: &mut [TokenInput]) {
        let mut place = 0;
        for FlyingRows { rows, promised, .. } in rows {
            if *promised {
                let output = self.output(rows.sequence).unwrap_or_default();
                let row = (output * self.key.ids()) as u32;
                tokens[place] = TokenInput::From { ticket: self.ticket.id(), row };
            }
            place += rows.count;
        }
    }

    /// The same step, of no use to anyone.
    pub(crate) fn abandoned(mut self) -> Flight {
        self.rows.iter_mut().for_each(|flying| flying.stale = true);
        self
    }
}

impl Engine {
    /// Begins a step, which comes `after` another one that is still on its way.
    pub(crate) fn begin(
        &mut self,
        schedule: &Schedule,
        after: Option<&Flight>,
    ) -> Result<Flight, Error> {
        self.programs.copy_pages(&mut self.devices, &schedule.copies)?;
        let mut outputs = 0;
        let mut rows = Vec::with_capacity(schedule.rows.len());
        for &scheduled in &schedule.rows {
            let output = self.samples(&scheduled).then_some(outputs);
            outputs += usize::from(output.is_some());
            let known = self.scheduler.tokens(scheduled.sequence).len();
            let promised = scheduled.start + scheduled.count > known;
            rows.push(FlyingRows { rows: scheduled, output, promised, stale: false });
        }
        let tokens = schedule.rows.iter().map(|rows| rows.count).sum();
        let counts = Counts { tokens, outputs };
        let key = self.key(counts, self.want(&rows), schedule.kind)?;
        let mut inputs = self.inputs(&rows, key);
        inputs.profile = self.options.profile;
        if let Some(before) = after {
            before.promise(&rows, &mut inputs.tokens);
        }
        let ticket = self.programs.submit(&self.model, &mut self.devices, key, inputs)?;
        Ok(Flight { rows, key, counts, ticket })
    }

    /// Begins the step after `flight`, if all tokens that it needs are known or are the largest
    /// logits of that one.
    pub(crate) fn begin_ahead(&mut self, flight: &Flight) -> Result<Option<Flight>, Error> {
        if !overlaps(&self.devices) || flight.rows.iter().any(|flying| flying.stale) {
            return Ok(None);
        }
        let rows: Vec<ScheduledRows> = flight.rows.iter().map(|flying| flying.rows).collect();
        let live = &self.live;
        let predictable = |id: SequenceId| live.get(&id).is_none_or(|l| l.sampling.is_greedy());
        if !flight.outputs().into_iter().all(predictable) {
            return Ok(None);
        }
        let goes_on = |id| {
            let chooses = flight.output(id).is_some();
            chooses && live.get(&id).is_some_and(|live| live.left() != Some(1))
        };
        match self.scheduler.ahead(&rows, goes_on) {
            None => Ok(None),
            Some(schedule) => self.begin(&schedule, Some(flight)).map(Some),
        }
    }

    /// Waits for a step, and chooses tokens after its rows.
    pub(crate) fn end(&mut self, flight: Flight, is_followed: bool) -> Result<Landed, Error> {
        let limits = self.step_limits(&flight);
        let clock = &*self.options.clock;
        let stop = || limits.iter().find_map(|limits| limits.reached(clock.now()));
        let limit = Limit { stop: &stop };
        let Flight { rows, key, counts, ticket } = flight;
        let outputs = self.programs.wait(&mut self.devices, key, ticket, &limit)?;
        if self.options.profile {
            let program = &self.programs.planned[&key];
            add_profile(&mut self.profiled, program, counts, outputs.done());
            for done in outputs.done().iter().filter(|done| done.waited > 0) {
                self.waits.submits += 1;
                self.waits.nanoseconds += done.waited;
            }
        }
        check_faults(&self.file)?;
        let mut landed = Landed::default();
        for flying in rows.iter().filter(|flying| !flying.stale) {
            let (Some(index), id) = (flying.output, flying.rows.sequence) else { continue };
            let row = output_row(&outputs, key.want, index, self.model.config().vocabulary)?;
            if let Some(live) = self.live.get_mut(&id) {
                if let (Some(hash), Row::Logits(logits)) = (&mut live.hash, row) {
                    hash.push(logits);
                }
                let history = self.scheduler.tokens(id);
                let choice = live.sampling.sample(&self.tokenizer, row, history);
                landed.choices.push((id, choice));
            }
        }
        if is_followed && counts.outputs > 0 {
            landed.ids = outputs.ids()?.iter().step_by(key.ids()).copied().collect();
        }
        check_faults(&self.file)?;
        Ok(landed)
    }

    /// A step that has begun, now that the one before it is known: rows that began with another
    /// token than was chosen are stale, and so are those of sequences that have ended. `ids` are
    /// the tokens that it began with, one for each of the sequences `outputs`.
    pub(crate) fn confirmed(
        &self,
        mut flight: Flight,
        outputs: &[SequenceId],
        ids: &[i32],
    ) -> Flight {
        for FlyingRows { rows, promised, stale, .. } in &mut flight.rows {
            let begun = outputs.iter().zip(ids).find(|(of, _)| **of == rows.sequence);
            let begun = begun.and_then(|(_, id)| u32::try_from(*id).ok());
            let chosen = self.scheduler.tokens(rows.sequence).get(rows.start);
            *stale = chosen.is_none_or(|chosen| *promised && begun != Some(*chosen));
        }
        flight
    }

    /// Ends the step on its way, if there is one, before something else runs on the devices.
    pub(crate) fn land(&mut self) -> Result<(), Error> {
        match self.flight.take() {
            None => Ok(()),
            Some(flight) => self.settle(flight),
        }
    }

    /// Whether a token is to be chosen after these rows.
    fn samples(&self, rows: &ScheduledRows) -> bool {
        let live = self.live.get(&rows.sequence);
        rows.last && live.is_some_and(|live| !live.is_long_enough())
    }

    /// What a step has to give, by what its output rows look at.
    fn want(&self, rows: &[FlyingRows]) -> Want {
        let choosing = rows.iter().filter(|flying| flying.output.is_some());
        let live = choosing.filter_map(|flying| self.live.get(&flying.rows.sequence));
        let mut ranked = live.map(|live| live.sampling.ranked());
        let most = ranked.try_fold(0, |most, ranked| Some(ranked?.max(most)));
        self.programs.sizes.want(most)
    }

    fn inputs(&self, rows: &[FlyingRows], key: ProgramKey) -> minfer_plan::Inputs {
        let ends: Vec<Vec<usize>> = rows
            .iter()
            .map(|FlyingRows { rows, output, .. }| match output {
                Some(_) => vec![rows.start + rows.count - 1],
                None => Vec::new(),
            })
            .collect();
        let rows: Vec<StepRows<'_>> = rows
            .iter()
            .zip(&ends)
            .filter_map(|(FlyingRows { rows, .. }, outputs)| {
                let known = self.scheduler.tokens(rows.sequence);
                // A token that is not chosen yet is promised by whoever calls.
                let tokens = known.get(rows.start..rows.start + rows.count).unwrap_or(&[0]);
                let tables = self.scheduler.tables(rows.sequence)?;
                Some(StepRows { start: rows.start, tokens, outputs, tables })
            })
            .collect();
        batch::inputs(&rows, &self.programs.sizes.shape(key), &self.windows)
    }

    /// Limits that may stop the step on its way: those of sequences whose prompts it works on, or
    /// of its only sequence. A short step is not worth stopping for one of many.
    fn step_limits(&self, flight: &Flight) -> Vec<Limits> {
        let alone = flight.rows.len() == 1;
        let rows = flight.rows.iter().filter(|flying| alone || flying.rows.count > 1);
        let live = rows.filter_map(|flying| self.live.get(&flying.rows.sequence));
        live.map(|live| live.limits.clone()).collect()
    }
}

/// What a step gave of an output row.
fn output_row<'o>(
    outputs: &'o StepOutputs<'_>,
    want: Want,
    index: usize,
    vocabulary: usize,
) -> Result<Row<'o>, Error> {
    Ok(match want {
        Want::TopK(k) => Row::Ranked {
            ids: &outputs.ids()?[index * k..][..k],
            logits: &outputs.id_logits()?[index * k..][..k],
        },
        Want::Logits | Want::Argmax | Want::LogitsAndId => {
            Row::Logits(&outputs.logits()?[index * vocabulary..][..vocabulary])
        }
    })
}
