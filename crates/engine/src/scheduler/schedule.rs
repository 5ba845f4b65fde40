//! Choosing a step.

use std::ops::Range;

use minfer_graph::{PAGE_POSITIONS, StepKind};

use super::{Schedule, ScheduledRows, Scheduler, Sequence, SequenceId};

/// Rows of a step of chosen tokens: one for each sequence that can run.
pub const DECODE_ROWS: usize = 32;

impl Scheduler {
    /// The next step; empty when nothing can run, which is when there is no sequence with anything
    /// to compute.
    pub fn schedule(&mut self) -> Schedule {
        for &kind in self.kinds() {
            let schedule = self.of_kind(kind);
            if !schedule.rows.is_empty() {
                self.last = kind;
                return schedule;
            }
        }
        Schedule::default()
    }

    /// Kinds of the next step, the preferred one first: they take turns.
    fn kinds(&self) -> &'static [StepKind] {
        match (self.config.apart, self.last) {
            (false, _) => &[StepKind::Mixed],
            (true, StepKind::Decode) => &[StepKind::Prompt, StepKind::Decode],
            (true, StepKind::Mixed | StepKind::Prompt) => &[StepKind::Decode, StepKind::Prompt],
        }
    }

    fn of_kind(&mut self, kind: StepKind) -> Schedule {
        let mut schedule = Schedule { kind, ..Schedule::default() };
        let ids: Vec<SequenceId> = self.running.keys().copied().collect();
        for feeding in [true, false] {
            for &id in &ids {
                let remaining = self.running.get(&id).map_or(0, |s| s.next(kind).len());
                if remaining > 0 && (remaining == 1) == feeding {
                    self.add_rows(id, &mut schedule);
                }
            }
        }
        if kind != StepKind::Decode {
            self.admit(&mut schedule);
        }
        schedule
    }

    /// The step after one that is on its way, before that is known: what follows in the prompts
    /// that it works on, and one row for each of its sequences that `goes_on`, for the token that
    /// it is about to give. `None` where there is no such row, where another sequence wants to run,
    /// and where pages run out or must be copied.
    pub fn ahead(
        &mut self,
        flight: &[ScheduledRows],
        goes_on: impl Fn(SequenceId) -> bool,
    ) -> Option<Schedule> {
        let full = self.running.len() >= self.config.sequences;
        if !(full || self.waiting.is_empty()) {
            return None;
        }
        let after = |(&id, sequence): (&SequenceId, &Sequence)| {
            let rows = flight.iter().find(|rows| rows.sequence == id);
            let start = rows.map_or(sequence.done, |rows| rows.start + rows.count);
            let promised = rows.is_some_and(|rows| rows.last && goes_on(id));
            (id, start, (sequence.tokens.len() + usize::from(promised)).min(self.config.context))
        };
        let after: Vec<(SequenceId, usize, usize)> = self.running.iter().map(after).collect();
        for &kind in self.kinds() {
            let mut schedule = Schedule { kind, ..Schedule::default() };
            for feeding in [true, false] {
                for &(id, start, end) in &after {
                    let rows = self.running.get(&id)?.part(kind, start, end);
                    if !rows.is_empty() && (rows.len() == 1) == feeding {
                        self.add_rows_ahead(id, rows, end, &mut schedule)?;
                    }
                }
            }
            if !schedule.rows.is_empty() {
                self.last = kind;
                return Some(schedule);
            }
        }
        None
    }

    /// Rows of one running sequence in a step ahead, which will then have tokens up to `newest`;
    /// `None` where their pages are not to be had at once.
    fn add_rows_ahead(
        &mut self,
        id: SequenceId,
        rows: Range<usize>,
        newest: usize,
        schedule: &mut Schedule,
    ) -> Option<()> {
        let count = rows.len().min(self.budget(schedule)).min(self.config.chunk);
        if count == 0 {
            return Some(());
        }
        let (start, tables) = (rows.start, &mut self.running.get_mut(&id)?.tables);
        if self.groups.is_shared(tables, start) {
            return None;
        }
        let end = self.groups.extend(tables, start, start + count, &mut schedule.copies);
        if end == start {
            return None;
        }
        let last = end == newest;
        schedule.rows.push(ScheduledRows { sequence: id, start, count: end - start, last });
        Some(())
    }

    /// Rows of one running sequence; younger ones that are not part of the step make room.
    fn add_rows(&mut self, id: SequenceId, schedule: &mut Schedule) {
        let budget = self.budget(schedule);
        loop {
            let Some(sequence) = self.running.get_mut(&id) else { return };
            let count = sequence.next(schedule.kind).len().min(budget).min(self.config.chunk);
            if count == 0 {
                return;
            }
            let (start, tables) = (sequence.done, &mut sequence.tables);
            let copies = &mut schedule.copies;
            let end = self.groups.reserve(tables, start, start + count, copies);
            if end > start {
                let last = end == sequence.tokens.len();
                schedule.rows.push(ScheduledRows { sequence: id, start, count: end - start, last });
                return;
            }
            if !self.make_room(id, schedule) {
                return;
            }
        }
    }

    fn budget(&self, schedule: &Schedule) -> usize {
        let used: usize = schedule.rows.iter().map(|rows| rows.count).sum();
        let most = match schedule.kind {
            StepKind::Mixed | StepKind::Prompt => self.config.batch,
            StepKind::Decode => self.config.batch.min(DECODE_ROWS),
        };
        most - used
    }

    /// Sends the youngest sequence that is not part of the step back to wait: one younger than
    /// `id`, else `id` itself as long as another one keeps the step alive. Whether `id` may try
    /// again.
    fn make_room(&mut self, id: SequenceId, schedule: &mut Schedule) -> bool {
        let in_step = |id: SequenceId| schedule.rows.iter().any(|rows| rows.sequence == id);
        let youngest = self.running.keys().rev().copied().find(|id| !in_step(*id));
        match youngest {
            Some(youngest) if youngest > id => {
                self.preempt(youngest);
                true
            }
            Some(_) | None => {
                if self.running.len() > 1 {
                    self.preempt(id);
                }
                false
            }
        }
    }

    fn preempt(&mut self, id: SequenceId) {
        if let Some(mut sequence) = self.running.remove(&id) {
            self.groups.release(&mut sequence.tables);
            sequence.done = 0;
            self.counters.preempted += 1;
            self.waiting.insert(id, sequence);
        }
    }

    /// Lets waiting sequences in, oldest first, as long as rows and pages last. None overtakes an
    /// older one.
    fn admit(&mut self, schedule: &mut Schedule) {
        while self.running.len() < self.config.sequences && self.budget(schedule) > 0 {
            let Some((id, mut sequence)) = self.waiting.pop_first() else { return };
            if !self.attach(&mut sequence) {
                self.waiting.insert(id, sequence);
                return;
            }
            self.running.insert(id, sequence);
            self.add_rows(id, schedule);
        }
    }

    /// Gives a newcomer its start from the prefix cache; `false`, and no page, when it does not fit
    /// now. A start that shares part of a page needs a page to copy it to, so that whole pages are
    /// the second try.
    fn attach(&mut self, sequence: &mut Sequence) -> bool {
        for partial in [true, false] {
            let known = if self.config.apart { sequence.prompt } else { sequence.tokens.len() };
            let hit = self.groups.hit(&sequence.tokens[..known], partial);
            self.groups.attach(&mut sequence.tables, &hit);
            let whole = hit.tokens.is_multiple_of(PAGE_POSITIONS);
            if self.fits(sequence, !whole) {
                sequence.done = hit.tokens;
                self.counters.admitted += 1;
                self.counters.prefix_hits += u64::from(hit.tokens > 0);
                self.counters.prefix_tokens += hit.tokens as u64;
                sequence.cached.get_or_insert(hit.tokens);
                return true;
            }
            self.groups.release(&mut sequence.tables);
            if whole {
                return false;
            }
        }
        false
    }

    /// Whether the pages of all tokens of a newcomer and one more are to be had, beside those that
    /// the running sequences still need for their tokens. One that would be alone fits (submit has
    /// seen to it), given a page for a copy if it needs one.
    fn fits(&self, newcomer: &Sequence, copies: bool) -> bool {
        (0..self.groups.len()).all(|group| {
            let available = self.groups.available(group);
            if self.running.is_empty() {
                return !copies || available > 0;
            }
            let missing = |sequence: &Sequence, spare: usize| {
                let need = self.groups.need(group, sequence.tokens.len(), self.config.chunk);
                (need + spare).saturating_sub(sequence.tables.held(group))
            };
            let promised: usize = self.running.values().map(|s| missing(s, 0)).sum();
            promised + missing(newcomer, 1) <= available
        })
    }
}
