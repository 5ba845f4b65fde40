//! The scheduler on simulated memory: a page slot holds a hash of all tokens up to its position, so
//! that every row can check that the pages it would read hold what they must.

use std::collections::{BTreeMap, HashMap};

use minfer_graph::StepKind;

use super::{Config, Refusal, Schedule, ScheduledRows, Scheduler, SequenceId};
use crate::kv::{GroupConfig, Tables};

const PAGE: usize = 32;

fn config(pages: usize) -> Config {
    let groups = vec![GroupConfig { window: None, pages }];
    let (prefix_cache, apart) = (true, false);
    Config { batch: 16, chunk: 16, sequences: 4, context: 128, groups, prefix_cache, apart }
}

/// A generator of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) % end.max(1) as u64) as usize
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A hash of each prefix of `tokens`.
fn prefixes(tokens: &[u32]) -> Vec<u64> {
    let mut hash = 1;
    let mut hashes = Vec::with_capacity(tokens.len());
    for token in tokens {
        hash = mix(hash ^ u64::from(*token).wrapping_mul(0x1_0001));
        hashes.push(hash);
    }
    hashes
}

#[test]
fn prompts_that_can_never_run_are_refused_with_the_numbers() {
    let mut scheduler = Scheduler::new(config(4));
    assert_eq!(scheduler.submit(vec![]), Err(Refusal::Empty));
    let refusal = scheduler.submit(vec![0; 129]).unwrap_err();
    assert_eq!(refusal, Refusal::Context { prompt: 129, context: 128 });
    assert!(scheduler.submit(vec![0; 128]).is_ok());
    let mut small = Config { chunk: 64, ..config(8) };
    small.groups.push(GroupConfig { window: Some(64), pages: 3 });
    let refusal = Scheduler::new(small).submit(vec![0; 128]).unwrap_err();
    assert_eq!(refusal, Refusal::Pages { prompt: 128, group: 1, needed: 4, total: 3 });
}

#[test]
fn a_context_is_no_longer_than_a_pool() {
    assert_eq!(Scheduler::new(config(3)).context(), 96);
    assert_eq!(Scheduler::new(config(9)).context(), 128);
}

#[test]
fn the_step_ahead_has_a_row_for_each_sequence_that_goes_on() {
    let mut scheduler = Scheduler::new(config(16));
    let (a, b) = (scheduler.submit(vec![1; 5]).unwrap(), scheduler.submit(vec![2; 6]).unwrap());
    let first = scheduler.schedule();
    assert_eq!(first.rows.len(), 2);
    assert_eq!(scheduler.ahead(&first.rows, |_| false), None);
    let alone = scheduler.ahead(&first.rows, |id| id == b).unwrap();
    assert_eq!(alone.rows, [ScheduledRows { sequence: b, start: 6, count: 1, last: true }]);
    let newcomer = scheduler.submit(vec![3; 4]).unwrap();
    assert_eq!(scheduler.ahead(&first.rows, |_| true), None, "another one is to be let in");
    scheduler.finish(newcomer);
    let ahead = scheduler.ahead(&first.rows, |_| true).unwrap();
    scheduler.complete(&first);
    assert!(scheduler.append(a, 9) && scheduler.append(b, 9));
    assert_eq!(scheduler.schedule(), ahead, "it is what comes without haste");
}

#[test]
fn the_step_ahead_of_a_part_of_a_prompt_has_the_next_part() {
    let mut scheduler = Scheduler::new(config(16));
    let a = scheduler.submit(vec![1; 3]).unwrap();
    let first = scheduler.schedule();
    scheduler.complete(&first);
    assert!(scheduler.append(a, 9));
    let b = scheduler.submit(vec![2; 40]).unwrap();
    let rows = |sequence, start, count, last| ScheduledRows { sequence, start, count, last };
    let mut before = scheduler.schedule();
    assert_eq!(before.rows, [rows(a, 3, 1, true), rows(b, 0, 15, false)]);
    for (start, count, last) in [(15, 15, false), (30, 10, true)] {
        let next = scheduler.ahead(&before.rows, |_| true).unwrap();
        let place = scheduler.tokens(a).len();
        assert_eq!(next.rows, [rows(a, place, 1, true), rows(b, start, count, last)]);
        scheduler.complete(&before);
        assert!(scheduler.append(a, 9));
        before = next;
    }
    // Whoever is not in the step that is on its way has the place that it had.
    let alone = scheduler.ahead(&before.rows[1..], |_| true).unwrap();
    assert_eq!(alone.rows, [rows(a, 5, 1, true), rows(b, 40, 1, true)]);
}

#[test]
fn there_is_no_step_ahead_without_pages_or_positions() {
    let ahead = |scheduler: &mut Scheduler| {
        let schedule = scheduler.schedule();
        let ahead = scheduler.ahead(&schedule.rows, |_| true);
        scheduler.complete(&schedule);
        ahead.map(|schedule| schedule.rows.len())
    };
    let whole = Config { batch: 128, chunk: 128, ..config(1) };
    let mut scheduler = Scheduler::new(Config { context: 64, ..whole.clone() });
    assert_eq!(scheduler.context(), 32);
    scheduler.submit(vec![1; 32]).unwrap();
    assert_eq!(ahead(&mut scheduler), None, "the context ends");
    let mut two = Scheduler::new(Config { context: 64, groups: config(3).groups, ..whole });
    for token in [1, 2] {
        two.submit(vec![token; 31]).unwrap();
    }
    assert_eq!(ahead(&mut two), Some(2));
    for id in two.running().collect::<Vec<_>>() {
        assert!(two.append(id, 7));
    }
    assert_eq!(ahead(&mut two), None, "pages run out");
}

#[test]
fn decode_rows_go_first_and_prompts_fill_the_rest_by_arrival() {
    let mut scheduler = Scheduler::new(config(16));
    let a = scheduler.submit(vec![1; 10]).unwrap();
    let first = scheduler.schedule();
    scheduler.complete(&first);
    assert!(scheduler.append(a, 5));
    let (b, c) = (scheduler.submit(vec![2; 12]).unwrap(), scheduler.submit(vec![3; 12]).unwrap());
    let rows = |schedule: &Schedule| -> Vec<(SequenceId, usize, usize, bool)> {
        schedule.rows.iter().map(|r| (r.sequence, r.start, r.count, r.last)).collect()
    };
    let second = scheduler.schedule();
    assert_eq!(rows(&second), [(a, 10, 1, true), (b, 0, 12, true), (c, 0, 3, false)]);
    scheduler.complete(&second);
    assert!(scheduler.append(a, 5) && scheduler.append(b, 5));
    let third = scheduler.schedule();
    assert_eq!(rows(&third), [(a, 11, 1, true), (b, 12, 1, true), (c, 3, 9, true)]);
}

#[test]
fn prompts_and_chosen_tokens_take_turns_where_they_come_apart() {
    let mut scheduler = Scheduler::new(Config { apart: true, ..config(16) });
    let a = scheduler.submit(vec![1; 33]).unwrap();
    let b = scheduler.submit(vec![2; 20]).unwrap();
    let rows = |sequence, start, count, last| ScheduledRows { sequence, start, count, last };
    let mut expect = |kind, expected: &[ScheduledRows]| {
        let schedule = scheduler.schedule();
        assert_eq!((schedule.kind, &schedule.rows[..]), (kind, expected));
        scheduler.complete(&schedule);
        for rows in schedule.rows.iter().filter(|rows| rows.last) {
            assert!(scheduler.append(rows.sequence, 9));
        }
    };
    let (prompt, decode) = (StepKind::Prompt, StepKind::Decode);
    expect(prompt, &[rows(a, 0, 16, false)]);
    expect(prompt, &[rows(a, 16, 16, false)]);
    expect(prompt, &[rows(a, 32, 1, true), rows(b, 0, 15, false)]);
    expect(decode, &[rows(a, 33, 1, true)]);
    expect(prompt, &[rows(b, 15, 5, true)]);
    expect(decode, &[rows(a, 34, 1, true), rows(b, 20, 1, true)]);
    // Pages with chosen tokens are not found by later prompts.
    for _ in 0..40 {
        let schedule = scheduler.schedule();
        scheduler.complete(&schedule);
        schedule.rows.iter().for_each(|rows| assert!(scheduler.append(rows.sequence, 9)));
    }
    let again = scheduler.submit(scheduler.tokens(a).to_vec()).unwrap();
    scheduler.finish(b);
    scheduler.schedule();
    assert_eq!(scheduler.cached(again), 32);
}

#[test]
fn a_newcomer_waits_until_its_pages_are_free() {
    let mut scheduler = Scheduler::new(Config { prefix_cache: false, ..config(4) });
    let a = scheduler.submit(vec![1; 40]).unwrap();
    let b = scheduler.submit(vec![2; 40]).unwrap();
    let small = scheduler.submit(vec![3; 2]).unwrap();
    assert_eq!(scheduler.schedule().rows.len(), 1);
    // The small one would fit, but does not overtake.
    assert_eq!(scheduler.running().collect::<Vec<_>>(), [a]);
    scheduler.finish(a);
    scheduler.schedule();
    assert_eq!(scheduler.running().collect::<Vec<_>>(), [b]);
    scheduler.finish(b);
    scheduler.schedule();
    assert_eq!(scheduler.running().collect::<Vec<_>>(), [small]);
}

#[test]
fn the_youngest_makes_room_and_starts_over() {
    let mut scheduler = Scheduler::new(Config { prefix_cache: false, ..config(4) });
    let a = scheduler.submit(vec![1; 30]).unwrap();
    let b = scheduler.submit(vec![2; 30]).unwrap();
    let mut preempted_at = None;
    for step in 0..200 {
        let schedule = scheduler.schedule();
        scheduler.complete(&schedule);
        for rows in schedule.rows.iter().filter(|rows| rows.last) {
            if !scheduler.append(rows.sequence, 7) {
                scheduler.finish(rows.sequence);
            }
        }
        if scheduler.counters().preempted > 0 && preempted_at.is_none() {
            preempted_at = Some(step);
            assert_eq!(scheduler.waiting().collect::<Vec<_>>(), [b]);
            assert_eq!(scheduler.running().collect::<Vec<_>>(), [a]);
            assert!(scheduler.tokens(b).len() > 60, "its tokens are kept");
        }
    }
    assert!(preempted_at.is_some());
    assert_eq!(scheduler.running().len() + scheduler.waiting().len(), 0);
    assert_eq!(scheduler.groups().pool(0).free(), 4);
}

#[test]
fn a_full_context_takes_no_more_tokens() {
    let mut scheduler = Scheduler::new(Config { batch: 128, chunk: 128, ..config(4) });
    let id = scheduler.submit(vec![1; 127]).unwrap();
    let schedule = scheduler.schedule();
    scheduler.complete(&schedule);
    assert!(scheduler.append(id, 1));
    let schedule = scheduler.schedule();
    scheduler.complete(&schedule);
    assert!(!scheduler.append(id, 1));
}

/// Sequences with goals on a scheduler with simulated memory.
struct Simulation {
    random: Random,
    config: Config,
    scheduler: Scheduler,
    memory: Vec<HashMap<usize, u64>>,
    /// Tokens that each sequence is to reach.
    goals: BTreeMap<SequenceId, usize>,
    /// Tokens of each prompt.
    prompts: BTreeMap<SequenceId, usize>,
    finished: usize,
    /// A step that was chosen before the one before it was known.
    ahead: Option<Schedule>,
    /// How many of these had rows.
    begun: usize,
}

impl Simulation {
    fn new(seed: u64) -> Simulation {
        let mut random = Random(seed);
        let batch = random.between(1, 70);
        let chunk = random.between(1, batch);
        let context = random.between(33, 300);
        let whole = context.div_ceil(PAGE);
        let mut groups = vec![GroupConfig { window: None, pages: random.between(2, whole + 4) }];
        for _ in 0..random.below(3) {
            let window = random.between(1, 100);
            let least = whole.min((window + chunk).div_ceil(PAGE) + 1);
            let pages = random.between(least, 2 * least + 2);
            groups.push(GroupConfig { window: Some(window), pages });
        }
        if random.below(4) == 0 && groups.len() > 1 {
            groups.remove(0);
        }
        let sequences = random.between(1, 6);
        let prefix_cache = random.below(5) > 0;
        let apart = random.below(2) > 0;
        let config = Config { batch, chunk, sequences, context, groups, prefix_cache, apart };
        let scheduler = Scheduler::new(config.clone());
        let memory = vec![HashMap::new(); config.groups.len()];
        let (goals, prompts) = (BTreeMap::new(), BTreeMap::new());
        let (finished, ahead, begun) = (0, None, 0);
        Simulation { random, config, scheduler, memory, goals, prompts, finished, ahead, begun }
    }

    fn submit(&mut self) {
        let context = self.scheduler.context();
        let len = self.random.between(1, context);
        // Few beginnings and few letters, so that starts are shared.
        let letter = self.random.below(2) as u32;
        let own = self.random.below(len + 1);
        let mut prompt = vec![letter; len - own];
        prompt.extend((0..own).map(|_| self.random.below(2) as u32));
        let goal = (len + self.random.between(1, 60)).min(context);
        if let Ok(id) = self.scheduler.submit(prompt) {
            self.goals.insert(id, goal);
            self.prompts.insert(id, len);
        }
    }

    fn step(&mut self) -> usize {
        let schedule = match self.ahead.take() {
            Some(ahead) => ahead,
            None => self.scheduler.schedule(),
        };
        self.check_schedule(&schedule);
        for copy in &schedule.copies {
            for offset in 0..PAGE {
                let held =
                    self.memory[copy.group].get(&(copy.from as usize * PAGE + offset)).copied();
                self.memory[copy.group].insert(copy.to as usize * PAGE + offset, held.unwrap_or(0));
            }
        }
        self.write_and_read(&schedule);
        if self.random.below(3) > 0 {
            let (scheduler, goals) = (&mut self.scheduler, &self.goals);
            let reached: Vec<SequenceId> =
                scheduler.running().filter(|id| scheduler.tokens(*id).len() >= goals[id]).collect();
            self.ahead = scheduler.ahead(&schedule.rows, |id| !reached.contains(&id));
        }
        // Now and then a step is stopped on its way, after all it may have written.
        if self.random.below(12) > 0 {
            self.scheduler.complete(&schedule);
            for rows in schedule.rows.iter().filter(|rows| rows.last) {
                self.advance(rows.sequence);
            }
        } else {
            self.ahead = None;
        }
        if let Some(ahead) = &self.ahead {
            assert_eq!(ahead.copies, []);
            self.begun += 1;
        }
        self.check_pages();
        schedule.rows.len()
    }

    fn advance(&mut self, id: SequenceId) {
        let token = prefixes(self.scheduler.tokens(id)).last().map_or(0, |hash| hash % 2) as u32;
        let long_enough = self.scheduler.tokens(id).len() >= self.goals[&id];
        if long_enough || !self.scheduler.append(id, token) {
            self.end(id);
        }
    }

    fn end(&mut self, id: SequenceId) {
        self.scheduler.finish(id);
        self.goals.remove(&id);
        self.finished += 1;
        if let Some(ahead) = &mut self.ahead {
            ahead.rows.retain(|rows| rows.sequence != id);
        }
    }

    fn check_schedule(&self, schedule: &Schedule) {
        let rows: usize = schedule.rows.iter().map(|rows| rows.count).sum();
        assert!(rows <= self.config.batch);
        assert!(schedule.rows.iter().all(|rows| rows.count <= self.config.chunk && rows.count > 0));
        assert!(self.scheduler.running().len() <= self.config.sequences);
        let mut ids: Vec<SequenceId> = schedule.rows.iter().map(|rows| rows.sequence).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), schedule.rows.len(), "one run of rows a sequence");
        if self.config.apart {
            return self.check_kind(schedule);
        }
        // The oldest always moves on.
        if let Some(oldest) = self.scheduler.running().next() {
            let fed = schedule.rows.iter().filter(|rows| rows.last).count() == self.config.batch;
            assert!(fed || ids.contains(&oldest), "{oldest:?} is left out of {schedule:?}");
        }
    }

    /// Rows of prompts are one kind, tokens after them the other.
    fn check_kind(&self, schedule: &Schedule) {
        for rows in &schedule.rows {
            let (start, end) = (rows.start, rows.start + rows.count);
            let prompt = self.prompts[&rows.sequence];
            let fits = match schedule.kind {
                StepKind::Mixed => false,
                StepKind::Prompt => end <= prompt,
                StepKind::Decode => start >= prompt,
            };
            assert!(fits, "{rows:?} after a prompt of {prompt} in {:?}", schedule.kind);
        }
    }

    fn write_and_read(&mut self, schedule: &Schedule) {
        for rows in &schedule.rows {
            let tokens = self.scheduler.tokens(rows.sequence);
            let hashes = prefixes(tokens);
            let end = rows.start + rows.count;
            assert_eq!(rows.last, end == tokens.len());
            let tables = self.scheduler.tables(rows.sequence).unwrap();
            for (group, config) in self.config.groups.iter().enumerate() {
                for position in rows.start..end {
                    let page = tables.pages(group)[position / PAGE].unwrap();
                    assert_eq!(self.scheduler.groups().pool(group).references(page), 1);
                    let slot = page as usize * PAGE + position % PAGE;
                    self.memory[group].insert(slot, hashes[position]);
                }
                let seen =
                    config.window.map_or(0, |window| (rows.start + 1).saturating_sub(window));
                for position in seen..end {
                    let page = tables.pages(group)[position / PAGE].unwrap();
                    let slot = page as usize * PAGE + position % PAGE;
                    assert_eq!(self.memory[group][&slot], hashes[position], "position {position}");
                }
            }
        }
    }

    /// Every reference is accounted for.
    fn check_pages(&self) {
        let groups = self.scheduler.groups();
        for group in 0..groups.len() {
            let pool = groups.pool(group);
            let mut counted = vec![0; pool.total()];
            let ids = self.scheduler.running().chain(self.scheduler.waiting());
            let tables = ids.filter_map(|id| self.scheduler.tables(id));
            let held =
                tables.flat_map(|tables: &Tables| tables.pages(group).iter().flatten().copied());
            let cached =
                groups.prefix().pages().filter(|(of, _)| *of == group).map(|(_, page)| page);
            held.chain(cached).for_each(|page| counted[page as usize] += 1);
            let references: Vec<u32> =
                (0..pool.total() as u32).map(|page| pool.references(page)).collect();
            assert_eq!(counted, references);
            assert_eq!(pool.free(), counted.iter().filter(|count| **count == 0).count());
        }
    }
}

#[test]
fn everyone_finishes_and_reads_what_was_written() {
    let (mut hits, mut preempted, mut finished, mut begun) = (0, 0, 0, 0);
    for seed in 0..400 {
        let mut simulation = Simulation::new(seed);
        let mut arrivals = simulation.random.between(1, 14);
        let mut idle = 0;
        for step in 0.. {
            assert!(step < 60_000, "seed {seed}: {:?} never finish", simulation.goals);
            if arrivals > 0 && simulation.random.below(6) == 0 {
                arrivals -= 1;
                simulation.submit();
            }
            if simulation.random.below(60) == 0
                && let Some(id) = simulation.goals.keys().next_back().copied()
            {
                simulation.end(id);
            }
            let rows = simulation.step();
            idle = if rows == 0 { idle + 1 } else { 0 };
            assert!(idle < 500 || arrivals > 0, "seed {seed}: nothing moves");
            if arrivals == 0 && simulation.goals.is_empty() {
                break;
            }
        }
        let groups = simulation.scheduler.groups();
        for group in 0..groups.len() {
            assert_eq!(groups.available(group), groups.pool(group).total(), "seed {seed} leaks");
        }
        hits += simulation.scheduler.counters().prefix_hits;
        preempted += simulation.scheduler.counters().preempted;
        finished += simulation.finished;
        begun += simulation.begun;
    }
    assert!(hits > 200 && preempted > 50 && finished > 1500, "{hits} {preempted} {finished}");
    assert!(begun > 1000, "{begun} steps began ahead");
}

#[test]
fn lost_pages_are_computed_again() {
    let mut simulation = Simulation::new(11);
    simulation.submit();
    simulation.submit();
    for _ in 0..5 {
        simulation.step();
    }
    let running: Vec<SequenceId> = simulation.scheduler.running().collect();
    running.into_iter().for_each(|id| simulation.end(id));
    simulation.scheduler.lose_pages();
    simulation.memory.iter_mut().for_each(HashMap::clear);
    simulation.submit();
    while !simulation.goals.is_empty() {
        simulation.step();
    }
    simulation.check_pages();
}
