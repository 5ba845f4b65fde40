//! The memory of the running threadgroup: its arguments and variables, apart from each other.
#![expect(unsafe_code, reason = "the memory is filled through a pointer")]

use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::io;
use std::ptr;

use crate::memory::Mapping;

/// Bytes between two regions, so that a small overrun does not land in the next.
const GAP: usize = 1024;
/// Bytes in all; more than any GPU has, with room for the gaps.
pub const ARENA: usize = 256 << 10;
/// Regions of a kernel, at most.
const REGIONS: usize = 128;
/// What fresh memory is filled with: NaN in every float type.
const POISON: u8 = 0xff;

/// What a region belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// `[[threadgroup(n)]]`
    Argument(u32),
    /// A variable by its id.
    Variable(u32),
}

/// A part of the memory.
#[derive(Clone, Copy)]
pub struct Region {
    pub owner: Owner,
    pub offset: usize,
    pub length: usize,
    name: *const c_char,
}

impl Region {
    const NONE: Region =
        Region { owner: Owner::Argument(0), offset: 0, length: 0, name: ptr::null() };

    /// How reports call it.
    pub fn describe(&self) -> String {
        match self.owner {
            Owner::Argument(index) => format!("the [[threadgroup({index})]] argument"),
            Owner::Variable(_) if self.name.is_null() => "a threadgroup variable".to_owned(),
            Owner::Variable(_) => {
                // SAFETY: a name of the library, which is loaded while its kernel runs.
                let name = unsafe { CStr::from_ptr(self.name) };
                format!("threadgroup variable '{}'", name.to_string_lossy())
            }
        }
    }
}

/// The regions of a threadgroup's memory.
pub struct Arena {
    mapping: Mapping,
    regions: [Cell<Region>; REGIONS],
    count: Cell<usize>,
    used: Cell<usize>,
    /// Bytes of regions, without gaps.
    filled: Cell<usize>,
}

impl Arena {
    /// Empty.
    pub fn new() -> io::Result<Arena> {
        Ok(Arena {
            mapping: Mapping::new(ARENA)?,
            regions: [const { Cell::new(Region::NONE) }; REGIONS],
            count: Cell::new(0),
            used: Cell::new(GAP),
            filled: Cell::new(0),
        })
    }

    /// Forgets all regions.
    pub fn clear(&self) {
        self.count.set(0);
        // A gap before the first region too, so that an underrun is seen as one.
        self.used.set(GAP);
        self.filled.set(0);
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.mapping.start()
    }

    /// Bytes of all regions.
    pub fn filled(&self) -> usize {
        self.filled.get()
    }

    /// Makes all values NaN, as at a threadgroup's start.
    pub fn poison(&self) {
        // SAFETY: `used` never exceeds the mapping.
        unsafe { ptr::write_bytes(self.start(), POISON, self.used.get()) };
    }

    /// The region of an owner, made at its first mention; none when there is no room.
    pub fn region(
        &self,
        owner: Owner,
        length: usize,
        align: usize,
        name: *const c_char,
    ) -> Option<Region> {
        if let Some(region) = self.all().find(|region| region.owner == owner) {
            return Some(region);
        }
        let offset = self.used.get().checked_next_multiple_of(align.max(16))?;
        let end = offset.checked_add(length)?.checked_add(GAP)?;
        let slot = self.regions.get(self.count.get()).filter(|_| end <= ARENA)?;
        let region = Region { owner, offset, length, name };
        slot.set(region);
        self.count.set(self.count.get() + 1);
        self.used.set(end);
        self.filled.set(self.filled.get() + length);
        // SAFETY: `end` is within the mapping.
        unsafe { ptr::write_bytes(self.start().wrapping_add(offset), POISON, length) };
        Some(region)
    }

    /// A region by its place among them.
    pub fn get(&self, place: usize) -> Option<Region> {
        self.regions.get(place).filter(|_| place < self.count.get()).map(Cell::get)
    }

    /// All regions, in the order of their offsets.
    pub fn all(&self) -> impl Iterator<Item = Region> {
        self.regions.iter().take(self.count.get()).map(Cell::get)
    }
}
