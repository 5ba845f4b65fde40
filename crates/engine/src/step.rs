//! One step: schedule, run, postprocess.

use minfer_graph::{Counts, StepKind, Want};
use minfer_plan::{DeviceError, Program, Stop};

use crate::engine::Engine;
use crate::error::Error;
use crate::event::{Event, FinishReason};
use crate::flight::{Flight, Landed};
use crate::programs::ProgramKey;
use crate::sampling::Sampled;
use crate::scheduler::{Schedule, SequenceId};
use crate::stats::OpProfile;

impl Engine {
    /// Advances every running sequence by one step; gives the news, nothing when there is nothing
    /// to do.
    ///
    /// What fails (a device, a sequence's numbers, the file under the weights) ends the sequences
    /// concerned with [`FinishReason::Failed`]; others go on.
    ///
    /// # Errors
    /// The devices failed and could not be brought back. All sequences have failed; the next call
    /// gives that news, and a later request tries the devices again.
    pub fn step(&mut self) -> Result<Vec<Event>, Error> {
        self.end_reached();
        if self.lost && !self.live.is_empty() {
            self.recover()?;
        }
        let flight = match self.flight.take() {
            None => self.begin_next()?,
            begun => begun,
        };
        if let Some(flight) = flight {
            let ahead = self.begin_ahead(&flight);
            self.settle_before(flight, ahead)?;
        }
        self.rest_if_idle();
        Ok(std::mem::take(&mut self.pending))
    }

    /// Tells the devices when no request is left.
    pub(crate) fn rest_if_idle(&mut self) {
        if self.live.is_empty() {
            self.devices.iter_mut().for_each(|device| device.rest());
        }
    }

    fn begin_next(&mut self) -> Result<Option<Flight>, Error> {
        let schedule = self.scheduler.schedule();
        if schedule.rows.is_empty() {
            return Ok(None);
        }
        self.start_clocks(&schedule);
        match self.begin(&schedule, None) {
            Ok(flight) => Ok(Some(flight)),
            Err(error) => {
                self.steps += 1;
                self.fail(&schedule, error)?;
                Ok(None)
            }
        }
    }

    /// Ends a step that no other follows yet.
    pub(crate) fn settle(&mut self, flight: Flight) -> Result<(), Error> {
        self.settle_before(flight, Ok(None))
    }

    /// Ends a step; the one that has begun after it stays on its way.
    fn settle_before(
        &mut self,
        flight: Flight,
        ahead: Result<Option<Flight>, Error>,
    ) -> Result<(), Error> {
        let (ahead, failed) = match ahead {
            Ok(ahead) => (ahead, None),
            Err(error) => (None, Some(error)),
        };
        self.steps += 1;
        let schedule = flight.schedule();
        let outputs = flight.outputs();
        match self.end(flight, ahead.is_some()) {
            Ok(landed) => {
                let Landed { choices, ids } = landed;
                self.postprocess(&schedule, choices);
                self.flight = ahead.map(|ahead| self.confirmed(ahead, &outputs, &ids));
            }
            Err(error) => {
                // It goes on, for sequences that have ended.
                self.flight = ahead.map(Flight::abandoned);
                self.fail(&schedule, error)?;
            }
        }
        match failed {
            None => Ok(()),
            Some(error) => self.fail(&schedule, error),
        }
    }

    /// Ends the sequences that were cancelled or whose time is up; whether there was one.
    fn end_reached(&mut self) -> bool {
        let now = self.now();
        let reached =
            self.live.iter().filter_map(|(id, live)| Some((*id, live.limits.reached(now)?)));
        let reached: Vec<(SequenceId, Stop)> = reached.collect();
        for (id, stop) in &reached {
            self.finish(*id, reason(*stop));
        }
        !reached.is_empty()
    }

    fn start_clocks(&mut self, schedule: &Schedule) {
        let now = self.now();
        for rows in &schedule.rows {
            if let Some(live) = self.live.get_mut(&rows.sequence) {
                live.started.get_or_insert(now);
            }
        }
    }

    pub(crate) fn key(
        &self,
        counts: Counts,
        want: Want,
        kind: StepKind,
    ) -> Result<ProgramKey, Error> {
        self.programs.key(counts, want, kind).ok_or_else(|| self.too_long(counts))
    }

    /// What a step of so many rows fails with.
    pub(crate) fn too_long(&self, counts: Counts) -> Error {
        Error::Request {
            field: "step",
            expected: format!("at most {} tokens", self.programs.buckets.max_tokens()),
            found: format!("{} tokens, {} outputs", counts.tokens, counts.outputs),
        }
    }

    fn postprocess(
        &mut self,
        schedule: &Schedule,
        choices: Vec<(SequenceId, Result<Sampled, Error>)>,
    ) {
        self.scheduler.complete(schedule);
        for rows in schedule.rows.iter().filter(|rows| rows.last) {
            if self.live.get(&rows.sequence).is_some_and(|live| live.is_long_enough()) {
                self.finish(rows.sequence, FinishReason::Length);
            }
        }
        for (id, choice) in choices {
            match choice {
                Ok(sampled) => self.take_token(id, sampled),
                Err(error) => self.finish(id, FinishReason::Failed(error.to_string())),
            }
        }
        self.end_reached();
    }

    fn take_token(&mut self, sequence: SequenceId, sampled: Sampled) {
        let now = self.now();
        let Some(live) = self.live.get_mut(&sequence) else { return };
        live.generated += 1;
        live.first_token.get_or_insert(now);
        let Sampled { id, mut text, logprob, top, stops } = sampled;
        let reason = if stops {
            Some(FinishReason::Stop)
        } else if live.is_long_enough() {
            Some(FinishReason::Length)
        } else if !self.scheduler.append(sequence, id) {
            Some(FinishReason::ContextFull)
        } else {
            None
        };
        if reason.is_some() {
            text.push_str(&live.sampling.finish());
        }
        self.pending.push(Event::Token { sequence, id, text, logprob, top });
        if let Some(reason) = reason {
            self.finish(sequence, reason);
        }
    }

    /// Ends a sequence.
    pub(crate) fn finish(&mut self, sequence: SequenceId, reason: FinishReason) {
        let cached = self.scheduler.cached(sequence);
        self.scheduler.finish(sequence);
        if let Some(live) = self.live.remove(&sequence) {
            let stats = live.stats(cached, self.now());
            tracing::debug!(sequence = sequence.0, reason = reason.name(), "finished");
            self.pending.push(Event::Finished { sequence, reason, stats });
        }
    }

    /// A step did not come to its end: it was stopped on the way, or something broke.
    fn fail(&mut self, schedule: &Schedule, error: Error) -> Result<(), Error> {
        match &error {
            // A device that stops though no limit was reached would stop again, for ever.
            Error::Plan(minfer_plan::Error::Device(
                DeviceError::Cancelled | DeviceError::Deadline { .. },
            )) if self.end_reached() => {}
            Error::Plan(minfer_plan::Error::Device(_)) => return self.lose_devices(&error),
            _ => {
                for rows in &schedule.rows {
                    self.finish(rows.sequence, FinishReason::Failed(error.to_string()));
                }
            }
        }
        Ok(())
    }

    /// The devices failed and their KV pages with them: running sequences end, waiting ones may go
    /// on after.
    pub(crate) fn lose_devices(&mut self, error: &Error) -> Result<(), Error> {
        tracing::warn!(%error, "device failure");
        for id in self.scheduler.running().collect::<Vec<_>>() {
            self.finish(id, FinishReason::Failed(error.to_string()));
        }
        self.lost = true;
        self.recover()
    }

    pub(crate) fn recover(&mut self) -> Result<(), Error> {
        self.flight = None;
        self.scheduler.lose_pages();
        let recovered = self.devices.iter_mut().try_for_each(|device| device.recover());
        if let Err(error) = recovered {
            let error = Error::from(error);
            for id in self.live.keys().copied().collect::<Vec<_>>() {
                self.finish(id, FinishReason::Failed(error.to_string()));
            }
            return Err(error);
        }
        self.lost = false;
        Ok(())
    }
}

fn reason(stop: Stop) -> FinishReason {
    match stop {
        Stop::Cancelled => FinishReason::Cancelled,
        Stop::Deadline => FinishReason::Deadline,
    }
}

/// Bytes of the mapped file that were lost make every result wrong.
pub(crate) fn check_faults(file: &minfer_gguf::File) -> Result<(), Error> {
    match file.parts().iter().find(|part| part.faulted()) {
        None => Ok(()),
        Some(part) => Err(Error::Faulted { path: part.path().map(Into::into).unwrap_or_default() }),
    }
}

pub(crate) fn add_profile(
    profiled: &mut std::collections::BTreeMap<(&'static str, String), OpProfile>,
    program: &Program,
    counts: Counts,
    done: &[minfer_plan::Done],
) {
    for (split, done) in program.splits.iter().zip(done) {
        for time in &done.launches {
            let Some(step) = split.steps.get(time.step) else { continue };
            let (node, graph) = (split.node(step), &split.graph);
            let (inputs, outputs) = (graph.types(&node.inputs), graph.types(&node.outputs));
            let cost = node.op.cost(&inputs, &outputs, &graph.tables, &counts);
            let op = node.op.kind().name();
            let kernel = step.launch.kernel.clone();
            let row = profiled.entry((op, kernel.clone())).or_insert_with(|| OpProfile {
                op,
                kernel,
                calls: 0,
                nanoseconds: 0,
                encoding: 0,
                bytes: 0,
                macs: 0,
            });
            row.calls += 1;
            row.nanoseconds += time.nanoseconds;
            row.encoding += time.encoding;
            row.bytes += cost.weight_bytes + cost.activation_bytes;
            row.macs += cost.macs;
        }
    }
}
