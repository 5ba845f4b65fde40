//! Checked mode: what is done at each access of a kernel to memory.

use std::io;
use std::ops::Range;

use super::Watch;
use super::arena::ARENA;
use super::bounds::{self, Bounds, Hints, Target};
use super::core::Core;
use super::dispatch::{Dispatch, Slice};
use super::fiber::STACK;
use super::joint::Access;
use super::log::{Spot, point};
use super::race::{Conflict, Moment, Other};
use super::shadow::{Histories, Shadow};
use super::traffic::Counters;
use crate::abi::{self, access};
use crate::report::Kind;
use crate::traffic::Traffic;

/// What is known of memory during a run of launches.
pub struct Checks {
    device: Shadow,
    /// The arena's histories, in which threadgroups are counted in the order they ran: what is of
    /// an earlier one is settled.
    local: Histories,
    /// The threadgroup that runs, and how many have run.
    running: (u32, u32),
    /// Threadgroups of all launches so far, and of those that a barrier has ended.
    groups: u32,
    settled: u32,
    /// The first threadgroup's number of each launch since then, and the kernel's name.
    launches: Vec<(u32, String)>,
    bounds: Bounds,
    /// Of threadgroup memory.
    regions: Hints,
    counters: Counters,
}

/// Something wrong with an access.
struct Problem {
    kind: Kind,
    text: String,
    /// The thread cannot go on.
    fatal: bool,
}

type Verdict = Result<(), Box<Problem>>;

fn problem(kind: Kind, text: String, fatal: bool) -> Verdict {
    Err(Box::new(Problem { kind, text, fatal }))
}

impl Checks {
    /// For launches that can write these ranges, the first of which is `dispatch`.
    pub fn new(writable: Vec<Range<usize>>, dispatch: &Dispatch) -> io::Result<Checks> {
        let device = Shadow::new(writable)?;
        let bounds = Bounds::new(dispatch, |range| device.part(range));
        let counters = counters(dispatch)?;
        let local = Histories::new(ARENA)?;
        let launches = vec![(1, dispatch.name.clone())];
        let (groups, settled, running, regions) = (0, 0, (0, 0), Hints::new());
        Ok(Checks { device, local, running, groups, settled, launches, bounds, regions, counters })
    }

    /// Ends a launch: what it moved.
    pub fn finish(&mut self, dispatch: &Dispatch) -> Traffic {
        self.groups = self.groups.saturating_add(dispatch.shape.total().unwrap_or(0));
        std::mem::replace(&mut self.counters, Counters::none()).finish()
    }

    /// Goes on with another launch, after a barrier or not.
    pub fn next(&mut self, dispatch: &Dispatch, barrier: bool) -> io::Result<()> {
        if barrier {
            self.settled = self.groups;
        }
        self.launches.push((self.groups + 1, dispatch.name.clone()));
        self.bounds = Bounds::new(dispatch, |range| self.device.part(range));
        self.counters = counters(dispatch)?;
        Ok(())
    }

    fn access(&mut self, core: &Core, range: &Range<usize>, bits: u32, pc: u64) -> Verdict {
        let aligned = range.start.is_multiple_of(range.len().min(8));
        // The compiler itself sees most of them, but no component of a vector.
        if bits & access::ALIGNED != 0
            && !aligned
            && core.misaligned.replace(range.start) != range.start
        {
            return problem(Kind::Misaligned, misaligned(range.start), false);
        }
        let write = bits & access::WRITE != 0;
        if bounds::in_arena(core, range.start) {
            return self.local(core, range, bits, pc);
        }
        let place = match self.bounds.find(core, range, write, pc) {
            Target::Slice(place) => place,
            Target::Internal => return Ok(()),
            Target::Nothing => {
                let (kind, text) = self.bounds.describe(core, range, write);
                return problem(kind, text, true);
            }
        };
        let Some(dispatch) = core.dispatch() else { return Ok(()) };
        let Some(slice) = dispatch.slices.get(place) else { return Ok(()) };
        let offset = range.start - slice.range().start;
        if write && !slice.writable {
            let text =
                format!("write to buffer({}) '{}', which is constant", slice.index, slice.name);
            return problem(Kind::Undefined, text, true);
        }
        let by = self.by(core, pc);
        self.counters.buffer(place, offset, range.len(), by, write);
        if dispatch.watch != Watch::Mistakes {
            return Ok(());
        }
        initialised(slice, offset, range.len(), write)?;
        let part = self.bounds.slices.get(place).and_then(|bound| bound.part);
        let Some(part) = part else { return Ok(()) };
        let now = self.moment(core, 0, bits);
        let Some((byte, conflict)) = self.device.add(part, range, &now) else { return Ok(()) };
        let what = format!("buffer({}) '{}' at offset {}", slice.index, slice.name, offset + byte);
        self.conflict(core, &what, write, &conflict)
    }

    fn local(&mut self, core: &Core, range: &Range<usize>, bits: u32, pc: u64) -> Verdict {
        let write = bits & access::WRITE != 0;
        let region = match bounds::region(core, range, write, (&mut self.regions, pc)) {
            Ok(region) => region,
            Err(text) => return problem(Kind::ThreadgroupOutOfBounds, text, true),
        };
        self.counters.threadgroup(range.len(), write);
        if core.dispatch().is_some_and(|dispatch| dispatch.watch != Watch::Mistakes) {
            return Ok(());
        }
        let start = range.start - core.arena.start() as usize;
        let group = self.group(core);
        if self.running.0 != group {
            self.running = (group, self.running.1.wrapping_add(1));
        }
        let (group, settled) = (self.running.1, self.running.1 - 1);
        let now = Moment { group, settled, blank: true, ..self.moment(core, 1, bits) };
        let found = self.local.add(start..start + range.len(), &now);
        let Some((byte, conflict)) = found else { return Ok(()) };
        let offset = byte - region.offset;
        let conflict = match conflict {
            Conflict::Blank => conflict,
            Conflict::Other(other) => Conflict::Other(Other { group: self.group(core), ..other }),
        };
        self.conflict(core, &format!("{} at offset {offset}", region.describe()), write, &conflict)
    }

    fn group(&self, core: &Core) -> u32 {
        self.groups.wrapping_add(core.serial.get()).wrapping_add(1)
    }

    fn by(&self, core: &Core, pc: u64) -> Access {
        let thread = core.current.get();
        let simdgroup = thread / abi::LANES;
        Access { pc, thread, group: self.group(core), sequence: core.sequence(simdgroup) }
    }

    fn moment(&self, core: &Core, memory: usize, bits: u32) -> Moment {
        let thread = core.current.get();
        Moment {
            group: self.group(core),
            settled: self.settled,
            thread: thread as u16,
            epoch: core.epochs[memory].get(),
            lane_epoch: core.simdgroup_of(thread).epochs[memory].get(),
            write: bits & access::WRITE != 0,
            atomic: bits & access::ATOMIC != 0,
            blank: false,
        }
    }

    #[cold]
    fn conflict(&self, core: &Core, what: &str, write: bool, conflict: &Conflict) -> Verdict {
        let other = match conflict {
            Conflict::Other(other) => other,
            Conflict::Blank => {
                let text =
                    format!("read of {what}, which no thread of the threadgroup has written");
                return problem(Kind::Uninitialised, text, false);
            }
        };
        self.unordered(core, what, write, other)
    }

    fn unordered(&self, core: &Core, what: &str, write: bool, other: &Other) -> Verdict {
        let here = if write { "write" } else { "read" };
        let there = if other.write { "written" } else { "read" };
        let launch = self.launches.iter().rev().find(|(first, _)| *first <= other.group);
        let this = self.launches.last().map_or(0, |(first, _)| *first);
        let (kind, who) = match (launch, other.thread) {
            (Some((first, name)), _) if *first < this => {
                let who = format!("by kernel {name}, with no barrier between the launches");
                (Kind::LaunchRace, who)
            }
            (_, Some(thread)) if usize::from(thread) != core.current.get() => {
                let thread = point(core.position_of(usize::from(thread)));
                (Kind::Race, format!("by thread {thread}, with no barrier between"))
            }
            _ if other.group == self.group(core) => (
                Kind::Race,
                "by other threads of the threadgroup, with no barrier between".to_owned(),
            ),
            _ => (Kind::Race, "by another threadgroup of this launch".to_owned()),
        };
        problem(kind, format!("{here} of {what}, which was {there} {who}"), false)
    }
}

fn counters(dispatch: &Dispatch) -> io::Result<Counters> {
    let buffer = |one: &'_ Slice| (one.index, one.name.clone(), one.offset, one.length);
    let coalescing = dispatch.watch == Watch::Coalescing;
    Counters::new(&dispatch.name, dispatch.slices.iter().map(buffer), coalescing)
}

/// Poisoned device memory: a value must have been written before it is read.
fn initialised(slice: &Slice, offset: usize, length: usize, write: bool) -> Verdict {
    let at = slice.offset + offset;
    if write {
        slice.memory.note_written(at, length);
        return Ok(());
    }
    let Some(byte) = slice.memory.first_unwritten(at, length) else { return Ok(()) };
    let text = format!(
        "read of buffer({}) '{}' at offset {}, which nobody has written",
        slice.index,
        slice.name,
        byte - slice.offset
    );
    problem(Kind::Uninitialised, text, false)
}

/// What to say of an address that its type may not lie at.
pub fn misaligned(address: usize) -> String {
    format!("misaligned address: address {address:#x}")
}

/// A kernel is about to touch memory.
pub fn access(core: &Core, address: usize, size: usize, bits: u32, pc: u64) {
    let thread = core.current.get();
    if address.wrapping_sub(core.stacks.low(thread)) < STACK || size == 0 {
        return;
    }
    let steps = core.steps.get();
    if steps == 0 {
        super::sync::hang(core, Spot::before(pc));
    }
    core.steps.set(steps - 1);
    // Taken out while it works, so that it is back before a fiber is left.
    let Some(mut checks) = core.checks.take() else { return };
    let range = address..address.saturating_add(size);
    let verdict = checks.access(core, &range, bits, pc);
    core.checks.set(Some(checks));
    if let Err(problem) = verdict {
        let Problem { kind, text, fatal } = *problem;
        core.report(kind, thread, Spot::before(pc), text);
        if fatal || core.killed.get() {
            core.kill();
        }
    }
}
