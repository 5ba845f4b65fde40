#![expect(unsafe_code, reason = "owns raw memory: the allocator's zeroed pages, aligned by hand")]
//! Zeroed memory, aligned to 64 bytes.
//!
//! The allocator gives zeroed pages lazily only for small alignments, so the alignment is made
//! here.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Alignment of every buffer: a cache line.
pub(crate) const ALIGNMENT: usize = 64;

/// Owned bytes, zero at first.
#[derive(Debug)]
pub(crate) struct Buffer {
    allocation: NonNull<u8>,
    layout: Layout,
    start: usize,
    len: usize,
}

// SAFETY: a buffer is plain owned memory without ties to a thread.
unsafe impl Send for Buffer {}
// SAFETY: shared access only reads; writing takes an exclusive borrow.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `len` zero bytes, or `None` where they cannot be had.
    pub(crate) fn zeroed(len: usize) -> Option<Buffer> {
        let layout = Layout::from_size_align(len.checked_add(ALIGNMENT)?, 16).ok()?;
        // SAFETY: the layout has a size of at least 64 bytes.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let start = allocation.as_ptr().align_offset(ALIGNMENT);
        (start <= ALIGNMENT).then_some(Buffer { allocation, layout, start, len })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `start` is at most 64, and `len` bytes follow it in the allocation.
        let first = unsafe { self.allocation.as_ptr().add(self.start) };
        // SAFETY: the range lies in the allocation, is initialised, and is borrowed with `self`.
        unsafe { std::slice::from_raw_parts(first, self.len) }
    }

    /// The bytes, to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` is at most 64, and `len` bytes follow it in the allocation.
        let first = unsafe { self.allocation.as_ptr().add(self.start) };
        // SAFETY: the range lies in the allocation, is initialised, and `self` is borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(first, self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the allocator with this layout and is freed once.
        unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
    }
}
