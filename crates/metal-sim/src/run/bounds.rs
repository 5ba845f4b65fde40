//! Which buffer an address belongs to, and what to say of one that belongs to none.

use std::ops::Range;

use super::arena::{ARENA, Region};
use super::core::{Core, SIMDGROUPS};
use super::dispatch::{Dispatch, Slice};
use super::{fault, host, symbols};
use crate::abi;
use crate::library::Library;
use crate::report::Kind;

/// How far from a slice an address still counts as an overrun of it.
pub const NEAR: usize = 1 << 20;

/// A bound slice.
pub struct Bound {
    pub range: Range<usize>,
    pub writable: bool,
    /// Where its histories are, if some of it has any.
    pub part: Option<usize>,
}

/// What places in the code access is mostly the same again: which slice or region that was, by a
/// digest of the place.
pub struct Hints([u8; Hints::COUNT]);

impl Hints {
    const COUNT: usize = 256;

    /// Nothing known.
    pub const fn new() -> Hints {
        Hints([0; Hints::COUNT])
    }

    #[inline]
    fn of(&mut self, pc: u64) -> &mut u8 {
        &mut self.0[(pc ^ pc >> 8) as usize % Hints::COUNT]
    }
}

/// What an access is to.
pub enum Target {
    /// A slice, by its place.
    Slice(usize),
    /// What is the kernel's own business.
    Internal,
    /// Nothing that it may touch.
    Nothing,
}

/// The hint of code that accesses the library itself.
const INTERNAL: u8 = u8::MAX;

/// Ranges of a launch.
pub struct Bounds {
    pub slices: Vec<Bound>,
    /// Program-scope constants are read from there.
    library: Library,
    hints: Hints,
}

impl Bounds {
    pub fn new(dispatch: &Dispatch, part: impl Fn(&Range<usize>) -> Option<usize>) -> Bounds {
        let bound = |slice: &Slice| {
            let range = slice.range();
            Bound { part: part(&range), range, writable: slice.writable }
        };
        let slices = dispatch.slices.iter().map(bound).collect();
        Bounds { slices, library: dispatch.library.clone(), hints: Hints::new() }
    }

    /// What an access is to: a slice that holds all of it, one that may be written where there is.
    #[inline]
    pub fn find(&mut self, core: &Core, access: &Range<usize>, write: bool, pc: u64) -> Target {
        let holds =
            |bound: &Bound| bound.range.start <= access.start && access.end <= bound.range.end;
        let fits = |bound: &Bound| holds(bound) && (bound.writable || !write);
        let hint = *self.hints.of(pc);
        if self.slices.get(usize::from(hint)).is_some_and(fits) {
            return Target::Slice(usize::from(hint));
        }
        if hint == INTERNAL && !write && self.in_library(access) {
            return Target::Internal;
        }
        let place = self.slices.iter().position(fits);
        if let Some(place) = place.or_else(|| self.slices.iter().position(holds)) {
            *self.hints.of(pc) = place as u8;
            return Target::Slice(place);
        }
        if self.is_internal(core, access, write) {
            *self.hints.of(pc) = INTERNAL;
            return Target::Internal;
        }
        Target::Nothing
    }

    /// Whether an access outside all slices is the kernel's own business.
    fn is_internal(&self, core: &Core, access: &Range<usize>, write: bool) -> bool {
        let within =
            |start: usize, length: usize| start <= access.start && access.end <= start + length;
        within(core.shared(0) as usize, SIMDGROUPS * size_of::<abi::Simdgroup>())
            || (!write && within(&raw const host::HOST as usize, size_of::<abi::Host>()))
            || (!write && within(core.arguments() as usize, size_of::<abi::Arguments>()))
            || (!write && self.in_library(access))
    }

    fn in_library(&self, access: &Range<usize>) -> bool {
        let segments = self.library.segments();
        if segments.is_empty() {
            let attach = self.library.exports().attach as *const () as usize;
            let base = symbols::base_of(attach);
            return base.is_some() && symbols::base_of(access.start) == base;
        }
        segments.iter().any(|one| one.start <= access.start && access.end <= one.end)
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
#[inline]
pub fn region(
    core: &Core,
    access: &Range<usize>,
    write: bool,
    hint: (&mut Hints, u64),
) -> Result<Region, String> {
    let start = core.arena.start() as usize;
    let offset = access.start - start;
    let end = offset + access.len();
    let holds = |one: &Region| one.offset <= offset && end <= one.offset + one.length;
    let (hints, pc) = hint;
    let hint = hints.of(pc);
    if let Some(region) = core.arena.get(usize::from(*hint)).filter(holds) {
        return Ok(region);
    }
    if let Some((index, region)) = core.arena.all().enumerate().find(|(_, one)| holds(one)) {
        *hint = index as u8;
        return Ok(region);
    }
    Err(outside(core, access, write))
}

/// What to say of an access to threadgroup memory outside of all regions.
#[cold]
fn outside(core: &Core, access: &Range<usize>, write: bool) -> String {
    let offset = access.start - core.arena.start() as usize;
    let what = format!("{} of {} bytes", if write { "write" } else { "read" }, access.len());
    // An overrun is more common than an underrun.
    let below = core.arena.all().filter(|one| one.offset <= offset).last();
    match below.or_else(|| core.arena.all().next()) {
        Some(near) => format!(
            "{what} at offset {} of {}, which has {} bytes",
            offset as i128 - near.offset as i128,
            near.describe(),
            near.length
        ),
        None => format!("{what} of threadgroup memory; the kernel has none"),
    }
}

/// Whether an address lies in the running threadgroup's memory.
pub fn in_arena(core: &Core, address: usize) -> bool {
    address.wrapping_sub(core.arena.start() as usize) < ARENA
}
