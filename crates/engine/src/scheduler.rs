//! Which rows of which sequences make up the next step. Integers alone: no model, no device, no
//! text.
//!
//! A step takes the next token of every sequence that has one to feed, oldest first, and fills what
//! is left of its budget with chunks of prompts, oldest first. A waiting sequence is admitted when
//! the pages of all its tokens and one more are to be had beside what the running ones still need
//! for theirs. When pages run out the youngest sequence gives its pages back and starts over later
//! (its tokens are kept and computed again), so the oldest always moves on and everyone finishes.

mod schedule;

pub use schedule::DECODE_ROWS;

use std::collections::BTreeMap;
use std::ops::Range;

use minfer_graph::{PAGE_POSITIONS, StepKind};

use crate::kv::{GroupConfig, Groups, PageCopy, Tables};

/// A sequence's number; later submits have larger ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SequenceId(pub u64);

/// Limits of a scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Rows of a step.
    pub batch: usize,
    /// Rows of one sequence in a step.
    pub chunk: usize,
    /// Sequences that run at once.
    pub sequences: usize,
    /// Positions of a sequence.
    pub context: usize,
    /// KV groups.
    pub groups: Vec<GroupConfig>,
    /// Whether full pages are kept for prompts that start alike.
    pub prefix_cache: bool,
    /// Whether prompts and chosen tokens come in steps of their own, and chosen ones are neither
    /// published nor looked for in the prefix cache.
    pub apart: bool,
}

/// A prompt that can never run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It has no token.
    #[error("the prompt is empty: give it at least one token")]
    Empty,
    /// It is longer than a sequence may be.
    #[error(
        "the prompt has {prompt} tokens, the context {context} positions: \
         shorten it, or load with a larger context"
    )]
    Context {
        /// Its tokens.
        prompt: usize,
        /// Positions of the context.
        context: usize,
    },
    /// It needs more pages than there are.
    #[error(
        "the prompt of {prompt} tokens needs {needed} pages of KV group {group}, \
         which has {total} in all: load with more KV pages"
    )]
    Pages {
        /// Its tokens.
        prompt: usize,
        /// KV group.
        group: usize,
        /// Pages that it needs.
        needed: usize,
        /// Pages of the group.
        total: usize,
    },
}

/// Rows that one sequence has in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledRows {
    /// Whose.
    pub sequence: SequenceId,
    /// Position of the first row.
    pub start: usize,
    /// Rows.
    pub count: usize,
    /// Whether the last row is the sequence's newest token, so that its logits choose the next.
    pub last: bool,
}

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Which rows it has.
    pub kind: StepKind,
    /// Its rows, sequence by sequence.
    pub rows: Vec<ScheduledRows>,
    /// Pages to copy before it runs.
    pub copies: Vec<PageCopy>,
}

#[derive(Debug)]
struct Sequence {
    tokens: Vec<u32>,
    /// Tokens of the prompt.
    prompt: usize,
    /// Tokens whose K and V are stored.
    done: usize,
    /// Tokens of the first admission that came from the prefix cache.
    cached: Option<usize>,
    tables: Tables,
}

impl Sequence {
    /// Of the tokens from `start` to `end`, those that belong in the next step of a kind.
    fn part(&self, kind: StepKind, start: usize, end: usize) -> Range<usize> {
        let end = match kind {
            StepKind::Mixed => end,
            StepKind::Prompt => end.min(self.prompt),
            StepKind::Decode => {
                if start < self.prompt {
                    start
                } else {
                    end
                }
            }
        };
        start..end.max(start)
    }

    /// What belongs in the next step of a kind.
    fn next(&self, kind: StepKind) -> Range<usize> {
        self.part(kind, self.done, self.tokens.len())
    }
}

/// Sequences that wait and run, and their pages.
#[derive(Debug)]
pub struct Scheduler {
    config: Config,
    groups: Groups,
    waiting: BTreeMap<SequenceId, Sequence>,
    running: BTreeMap<SequenceId, Sequence>,
    next: u64,
    /// Kind of the last step.
    last: StepKind,
    counters: Counters,
}

/// What a scheduler has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sequences that were admitted, again after a preemption too.
    pub admitted: u64,
    /// Sequences that had to give their pages back.
    pub preempted: u64,
    /// Admissions that found a start in the prefix cache.
    pub prefix_hits: u64,
    /// Tokens that came from there.
    pub prefix_tokens: u64,
}

impl Scheduler {
    /// A scheduler without sequences. A context that no pool could hold is shortened to what one
    /// can.
    pub fn new(mut config: Config) -> Scheduler {
        for group in config.groups.iter().filter(|group| group.window.is_none()) {
            config.context = config.context.min(group.pages * PAGE_POSITIONS);
        }
        let groups = Groups::new(&config.groups, config.prefix_cache);
        Scheduler {
            config,
            groups,
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            next: 0,
            last: StepKind::Mixed,
            counters: Counters::default(),
        }
    }

    /// Takes a prompt in. It is refused when it could never run.
    pub fn submit(&mut self, tokens: Vec<u32>) -> Result<SequenceId, Refusal> {
        let (prompt, context) = (tokens.len(), self.config.context);
        if prompt == 0 {
            return Err(Refusal::Empty);
        }
        if prompt > context {
            return Err(Refusal::Context { prompt, context });
        }
        for group in 0..self.groups.len() {
            let needed = self.groups.need(group, prompt, self.config.chunk);
            let total = self.groups.pool(group).total();
            if needed > total {
                return Err(Refusal::Pages { prompt, group, needed, total });
            }
        }
        let id = SequenceId(self.next);
        self.next += 1;
        let tables = Tables::default();
        let sequence = Sequence { tokens, prompt, done: 0, cached: None, tables };
        self.waiting.insert(id, sequence);
        Ok(id)
    }

    /// Takes over the results of a step that ran: its rows are stored.
    pub fn complete(&mut self, schedule: &Schedule) {
        for rows in &schedule.rows {
            if let Some(sequence) = self.running.get_mut(&rows.sequence) {
                sequence.done = rows.start + rows.count;
                let Sequence { tokens, prompt, done, tables, .. } = sequence;
                let stored = if self.config.apart { (*done).min(*prompt) } else { *done };
                self.groups.publish(tables, tokens, stored);
            }
        }
    }

    /// Adds a chosen token. `false` when the sequence has no position left for it: it is to be
    /// finished.
    pub fn append(&mut self, id: SequenceId, token: u32) -> bool {
        let context = self.context();
        match self.running.get_mut(&id) {
            Some(sequence) if sequence.tokens.len() < context => {
                sequence.tokens.push(token);
                true
            }
            Some(_) | None => false,
        }
    }

    /// Positions of the longest sequence.
    pub fn context(&self) -> usize {
        self.config.context
    }

    /// Drops a sequence and gives its pages back.
    pub fn finish(&mut self, id: SequenceId) {
        let sequence = self.running.remove(&id).or_else(|| self.waiting.remove(&id));
        if let Some(mut sequence) = sequence {
            self.groups.release(&mut sequence.tables);
        }
    }

    /// The devices lost their state: running sequences must have been finished, waiting ones hold
    /// no pages.
    pub fn lose_pages(&mut self) {
        debug_assert!(self.running.is_empty(), "running sequences have pages");
        self.groups.clear();
    }

    /// Prompt and chosen tokens of a sequence.
    pub fn tokens(&self, id: SequenceId) -> &[u32] {
        self.sequence(id).map_or(&[], |sequence| &sequence.tokens)
    }

    /// Pages of a sequence.
    pub fn tables(&self, id: SequenceId) -> Option<&Tables> {
        self.sequence(id).map(|sequence| &sequence.tables)
    }

    /// Tokens that a sequence had from the prefix cache when it was first admitted.
    pub fn cached(&self, id: SequenceId) -> usize {
        self.sequence(id).and_then(|sequence| sequence.cached).unwrap_or(0)
    }

    fn sequence(&self, id: SequenceId) -> Option<&Sequence> {
        self.running.get(&id).or_else(|| self.waiting.get(&id))
    }

    /// Sequences that hold pages, oldest first.
    pub fn running(&self) -> impl ExactSizeIterator<Item = SequenceId> + '_ {
        self.running.keys().copied()
    }

    /// Sequences that hold none, oldest first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = SequenceId> + '_ {
        self.waiting.keys().copied()
    }

    /// Pools and prefix cache.
    pub fn groups(&self) -> &Groups {
        &self.groups
    }

    /// Pools and prefix cache, for work beside the sequences.
    pub fn groups_mut(&mut self) -> &mut Groups {
        &mut self.groups
    }

    /// What has been done so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }
}

/// Pages of a context.
pub fn pages_of(positions: usize) -> usize {
    positions.div_ceil(PAGE_POSITIONS)
}

#[cfg(test)]
mod tests;
