//! Histories of memory: one [`Byte`] for each byte that some kernel of a run can write.
#![expect(unsafe_code, reason = "zeroed pages are read as histories")]

use std::io;
use std::ops::Range;

use super::race::Byte;
use crate::memory::Mapping;

/// A zeroed array that costs memory where it is touched.
pub struct Sparse<T> {
    mapping: Mapping,
    length: usize,
    kind: std::marker::PhantomData<T>,
}

/// Types for which zeros are a value.
pub trait Zero: Copy {}
impl Zero for Byte {}
impl Zero for super::traffic::Line {}

// SAFETY: it owns its pages.
unsafe impl<T: Send> Send for Sparse<T> {}

impl<T: Zero> Sparse<T> {
    /// This many zeros.
    pub fn new(length: usize) -> io::Result<Sparse<T>> {
        let too_large = io::Error::from(io::ErrorKind::OutOfMemory);
        let room = length.checked_mul(size_of::<T>()).ok_or(too_large)?;
        Ok(Sparse { mapping: Mapping::new(room)?, length, kind: std::marker::PhantomData })
    }

    /// Elements of a range; those past the end are left out.
    pub fn range(&mut self, range: Range<usize>) -> &mut [T] {
        let end = range.end.min(self.length);
        let start = range.start.min(end);
        let first = self.mapping.start().cast::<T>().wrapping_add(start);
        // SAFETY: within the mapping, which is aligned to a page and holds zeros or what was put.
        unsafe { std::slice::from_raw_parts_mut(first, end - start) }
    }
}

/// Histories by address.
pub struct Shadow {
    parts: Vec<(Range<usize>, Sparse<Byte>)>,
}

impl Shadow {
    /// Covers these ranges, which may overlap.
    pub fn new(mut ranges: Vec<Range<usize>>) -> io::Result<Shadow> {
        ranges.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let part = |range: Range<usize>| Ok((range.clone(), Sparse::new(range.len())?));
        Ok(Shadow { parts: merged.into_iter().map(part).collect::<io::Result<_>>()? })
    }

    /// Whether any byte of the range is covered.
    pub fn overlaps(&self, range: &Range<usize>) -> bool {
        self.parts.iter().any(|(part, _)| part.start < range.end && range.start < part.end)
    }

    /// The histories of a range, where it is covered.
    pub fn bytes(&mut self, range: &Range<usize>) -> Option<&mut [Byte]> {
        let holds = |(part, _): &&mut (Range<usize>, _)| {
            part.start <= range.start && range.start < part.end
        };
        let (part, bytes) = self.parts.iter_mut().find(holds)?;
        Some(bytes.range(range.start - part.start..range.end - part.start))
    }
}
