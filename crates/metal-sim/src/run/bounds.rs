//! Which buffer an address belongs to, and what to say of one that belongs to none.

use std::ops::Range;

use super::arena::{ARENA, Region};
use super::core::{Core, SIMDGROUPS};
use super::dispatch::{Dispatch, Slice};
use super::{fault, host, symbols};
use crate::abi;
use crate::report::Kind;

/// How far from a slice an address still counts as an overrun of it.
pub const NEAR: usize = 1 << 20;

/// A bound slice.
pub struct Bound {
    pub range: Range<usize>,
    pub writable: bool,
    /// Some of it has histories.
    pub tracked: bool,
}

/// Ranges of a launch.
pub struct Bounds {
    pub slices: Vec<Bound>,
    /// Segments of the library: program-scope constants are read from there.
    library: Vec<Range<usize>>,
    /// Where they begin.
    base: Option<usize>,
    /// The slice that the last access was to.
    last: usize,
}

impl Bounds {
    pub fn new(dispatch: &Dispatch, tracked: impl Fn(&Range<usize>) -> bool) -> Bounds {
        let bound = |slice: &Slice| {
            let range = slice.range();
            Bound { tracked: tracked(&range), range, writable: slice.writable }
        };
        let slices = dispatch.slices.iter().map(bound).collect();
        let call = dispatch.kernel.call as *const () as usize;
        Bounds { slices, library: symbols::segments(call), base: symbols::base_of(call), last: 0 }
    }

    /// The place of a slice that holds all of an access; one that may be written where there is.
    pub fn find(&mut self, access: &Range<usize>, write: bool) -> Option<usize> {
        let holds =
            |bound: &Bound| bound.range.start <= access.start && access.end <= bound.range.end;
        let fits = |bound: &Bound| holds(bound) && (bound.writable || !write);
        if !self.slices.get(self.last).is_some_and(fits) {
            let place = self.slices.iter().position(fits);
            self.last = place.or_else(|| self.slices.iter().position(holds))?;
        }
        Some(self.last)
    }

    /// Whether an access outside all slices is the kernel's own business.
    pub fn is_internal(&self, core: &Core, access: &Range<usize>, write: bool) -> bool {
        let within =
            |start: usize, length: usize| start <= access.start && access.end <= start + length;
        within(core.shared(0) as usize, SIMDGROUPS * size_of::<abi::Simdgroup>())
            || within(core.note.get() as usize, size_of::<abi::Current>())
            || (!write && within(&raw const host::HOST as usize, size_of::<abi::Host>()))
            || (!write && within(core.arguments() as usize, size_of::<abi::Arguments>()))
            || (!write && self.in_library(access))
    }

    fn in_library(&self, access: &Range<usize>) -> bool {
        if self.library.is_empty() {
            return self.base.is_some() && symbols::base_of(access.start) == self.base;
        }
        self.library.iter().any(|one| one.start <= access.start && access.end <= one.end)
    }

    /// What to say of an access outside everything.
    pub fn describe(&self, core: &Core, access: &Range<usize>, write: bool) -> (Kind, String) {
        let what = format!("{} of {} bytes", if write { "write" } else { "read" }, access.len());
        if core.stacks.overrun(core.current.get()) {
            return (Kind::Fault, fault::overflow());
        }
        if core.stacks.contains(access.start) {
            return (Kind::Wild, format!("{what} in another thread's private memory"));
        }
        let slices = core.dispatch().map_or(&[][..], |dispatch| &dispatch.slices);
        let distance = |slice: &&Slice| {
            let range = slice.range();
            let before = range.start.saturating_sub(access.start);
            before.max(access.end.saturating_sub(range.end))
        };
        let near = slices.iter().min_by_key(distance).filter(|slice| distance(slice) < NEAR);
        let Some(slice) = near else {
            return (
                Kind::Wild,
                format!("{what} at {:#x}, which nothing is bound to", access.start),
            );
        };
        let range = slice.range();
        let side = if access.end > range.end { "past the end of" } else { "before the start of" };
        let offset = access.start as i128 - range.start as i128;
        let text = format!(
            "{what} {side} buffer({}) '{}': offset {offset}, length {}",
            slice.index, slice.name, slice.length
        );
        (Kind::OutOfBounds, text)
    }
}

/// The region of threadgroup memory that holds all of an access, else what to say.
pub fn region(core: &Core, access: &Range<usize>, write: bool) -> Result<Region, String> {
    let start = core.arena.start() as usize;
    let offset = access.start - start;
    let end = offset + access.len();
    let holds = |one: &Region| one.offset <= offset && end <= one.offset + one.length;
    if let Some(region) = core.arena.all().find(holds) {
        return Ok(region);
    }
    let what = format!("{} of {} bytes", if write { "write" } else { "read" }, access.len());
    // An overrun is more common than an underrun.
    let below = core.arena.all().filter(|one| one.offset <= offset).last();
    Err(match below.or_else(|| core.arena.all().next()) {
        Some(near) => format!(
            "{what} at offset {} of {}, which has {} bytes",
            offset as i128 - near.offset as i128,
            near.describe(),
            near.length
        ),
        None => format!("{what} of threadgroup memory; the kernel has none"),
    })
}

/// Whether an address lies in the running threadgroup's memory.
pub fn in_arena(core: &Core, address: usize) -> bool {
    address.wrapping_sub(core.arena.start() as usize) < ARENA
}
