//! Memory that buffers are bound from.
//!
//! Own memory ends at a page that cannot be touched, so that an overrun faults even in a kernel
//! that was compiled without checks.
#![expect(unsafe_code, reason = "memory comes from mmap, or from outside")]

use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Starts of memory lie on multiples of this, the largest alignment of a type.
const ALIGN: usize = 16;
/// What poisoned memory is filled with: NaN in every float type.
const POISON: u8 = 0xff;

/// No memory of this length was to be had.
#[derive(Debug, thiserror::Error)]
#[error("{length} bytes of memory could not be mapped: {error}; bind less or free some")]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub length: usize,
    /// What the system said.
    pub error: std::io::Error,
}

/// A range of memory that buffers can be bound from.
#[derive(Debug)]
pub struct Memory {
    start: *mut u8,
    length: usize,
    _mapping: Option<Mapping>,
    /// One bit a byte of poisoned memory: nobody wrote it yet.
    unwritten: OnceLock<Box<[AtomicU8]>>,
}

// SAFETY: the range belongs to this value, or to who promised to keep it; bytes are shared between
// threads as a GPU's are.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Zeroed memory that ends at a guard page. The last byte touches that page where the length is
    /// a multiple of 16, and the start is 256-byte aligned where it is one of 256.
    pub fn alloc(length: usize) -> Result<Arc<Memory>, OutOfMemory> {
        let error = |error| OutOfMemory { length, error };
        let too_large = || error(std::io::ErrorKind::OutOfMemory.into());
        let room = length.checked_next_multiple_of(ALIGN).ok_or_else(too_large)?;
        let mapping = Mapping::new(room).map_err(error)?;
        let start = mapping.end().wrapping_sub(room);
        let unwritten = OnceLock::new();
        Ok(Arc::new(Memory { start, length, _mapping: Some(mapping), unwritten }))
    }

    /// Memory that others own.
    ///
    /// # Safety
    /// The range can be read and written for as long as this value lives.
    pub unsafe fn external(start: *mut u8, length: usize) -> Arc<Memory> {
        Arc::new(Memory { start, length, _mapping: None, unwritten: OnceLock::new() })
    }

    /// Memory that holds these bytes.
    pub fn of(bytes: &[u8]) -> Result<Arc<Memory>, OutOfMemory> {
        let memory = Memory::alloc(bytes.len())?;
        memory.write(0, bytes);
        Ok(memory)
    }

    /// Its first byte.
    pub fn ptr(&self) -> *mut u8 {
        self.start
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Fills it with NaN and has checked runs report reads of what neither [`Memory::write`] nor a
    /// kernel has written since.
    pub fn poison(&self) {
        // SAFETY: the range is ours to write.
        unsafe { ptr::write_bytes(self.start, POISON, self.length) };
        let bits = self
            .unwritten
            .get_or_init(|| (0..self.length.div_ceil(8)).map(|_| AtomicU8::new(0)).collect());
        for byte in bits {
            byte.store(u8::MAX, Ordering::Relaxed);
        }
    }

    /// Copies bytes in; what lies past the end is left out.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        let offset = offset.min(self.length);
        let length = bytes.len().min(self.length - offset);
        // SAFETY: clipped to the range just above.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.wrapping_add(offset), length)
        };
        self.note_written(offset, length);
    }

    /// A copy of its bytes.
    pub fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.length];
        // SAFETY: both have this length.
        unsafe { ptr::copy_nonoverlapping(self.start, bytes.as_mut_ptr(), self.length) };
        bytes
    }

    /// The first of these bytes that is poisoned and was not written.
    pub(crate) fn first_unwritten(&self, offset: usize, length: usize) -> Option<usize> {
        let bits = self.unwritten.get()?;
        (offset..offset.saturating_add(length)).find(|byte| {
            bits.get(byte / 8).is_some_and(|bit| bit.load(Ordering::Relaxed) >> (byte % 8) & 1 == 1)
        })
    }

    /// These bytes have a value now.
    pub(crate) fn note_written(&self, offset: usize, length: usize) {
        let Some(bits) = self.unwritten.get() else { return };
        for byte in offset..offset.saturating_add(length) {
            if let Some(bit) = bits.get(byte / 8) {
                bit.fetch_and(!(1 << (byte % 8)), Ordering::Relaxed);
            }
        }
    }
}

/// Pages between two that cannot be touched.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut u8,
    length: usize,
}

impl Mapping {
    /// At least this many zeroed bytes.
    pub(crate) fn new(room: usize) -> std::io::Result<Mapping> {
        let page = page_size();
        let pages = room.max(1).checked_next_multiple_of(page);
        let too_large = std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let length = pages.and_then(|pages| pages.checked_add(2 * page)).ok_or(too_large)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_NORESERVE;
        // SAFETY: a new mapping wherever the system likes.
        let start = unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let mapping = Mapping { start: start.cast(), length };
        let inner = mapping.start.wrapping_add(page).cast();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: within the mapping just made.
        if unsafe { libc::mprotect(inner, length - 2 * page, access) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(mapping)
    }

    /// The first byte that can be touched.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.wrapping_add(page_size())
    }

    /// The byte after the last that can be touched.
    pub(crate) fn end(&self) -> *mut u8 {
        self.start.wrapping_add(self.length - page_size())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nobody else unmaps it.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// Bytes of a page.
pub(crate) fn page_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| {
        // SAFETY: asks for a constant of the system.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).unwrap_or(4096)
    })
}
