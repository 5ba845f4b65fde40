#![expect(unsafe_code, reason = "lends disjoint parts of one buffer; overlap is checked here")]
//! One buffer for all values of the device's splits, lent out launch by launch.

use std::ops::Range;

use super::Buffer;

/// Views of one launch at most, of each kind.
pub(crate) const MAX_VIEWS: usize = 10;

/// The buffer.
#[derive(Debug)]
pub(crate) struct Arena {
    buffer: Buffer,
}

/// A part that a launch reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Read<'a> {
    /// The bytes.
    Bytes(&'a [u8]),
    /// The same bytes as the numbered part that it writes: it works in place.
    InPlace(usize),
    /// No such part.
    #[default]
    None,
}

/// What a launch may write and read.
#[derive(Debug, Default)]
pub(crate) struct Views<'a> {
    /// Parts to write, in the order asked for; empty beyond.
    pub(crate) writes: [&'a mut [u8]; MAX_VIEWS],
    /// Parts to read, in the order asked for.
    pub(crate) reads: [Read<'a>; MAX_VIEWS],
}

impl Arena {
    /// An arena of `len` bytes, or `None` where they cannot be had.
    pub(crate) fn new(len: usize) -> Option<Arena> {
        Some(Arena { buffer: Buffer::zeroed(len)? })
    }

    /// Bytes of a part; `None` beyond the end.
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        self.buffer.bytes().get(range)
    }

    /// The same, to be written.
    pub(crate) fn get_mut(&mut self, range: Range<usize>) -> Option<&mut [u8]> {
        self.buffer.bytes_mut().get_mut(range)
    }

    /// Lends the parts of one launch. A part that is read may equal one that is written; any other
    /// overlap with a written part, a part beyond the end and more parts than [`MAX_VIEWS`] are
    /// refused with the reason.
    pub(crate) fn lend(
        &mut self,
        writes: &[Range<usize>],
        reads: &[Option<Range<usize>>],
    ) -> Result<Views<'_>, String> {
        let bytes = self.buffer.bytes_mut();
        let (base, len) = (bytes.as_mut_ptr(), bytes.len());
        let within = |range: &Range<usize>| range.start <= range.end && range.end <= len;
        if writes.len() > MAX_VIEWS || reads.len() > MAX_VIEWS {
            return Err(format!("{} + {} parts", writes.len(), reads.len()));
        }
        for (index, write) in writes.iter().enumerate() {
            if !within(write) || writes[..index].iter().any(|other| overlap(write, other)) {
                return Err(format!("written parts {writes:?} of an arena of {len} bytes"));
            }
        }
        let mut views = Views::default();
        for (view, range) in views.reads.iter_mut().zip(reads) {
            let Some(range) = range else { continue };
            let same = writes.iter().position(|write| write == range && !range.is_empty());
            let clash = same.is_none() && writes.iter().any(|write| overlap(write, range));
            if !within(range) || clash {
                return Err(format!("read part {range:?} beside written parts {writes:?}"));
            }
            *view = match same {
                Some(index) => Read::InPlace(index),
                None => {
                    // SAFETY: `start` is within the buffer, which `self` borrows.
                    let first = unsafe { base.add(range.start) };
                    // SAFETY: in the buffer, initialised, and disjoint from all that is written.
                    Read::Bytes(unsafe { std::slice::from_raw_parts(first, range.len()) })
                }
            };
        }
        for (view, range) in views.writes.iter_mut().zip(writes) {
            // SAFETY: `start` is within the buffer, which `self` borrows exclusively.
            let first = unsafe { base.add(range.start) };
            // SAFETY: in the buffer, initialised, and disjoint from all other views.
            *view = unsafe { std::slice::from_raw_parts_mut(first, range.len()) };
        }
        Ok(views)
    }
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests;
