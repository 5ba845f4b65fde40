//! Histories of memory: one [`History`] for each word of four bytes that some kernel of a run can
//! write, and one for each byte of the words that were touched in part.
#![expect(unsafe_code, reason = "zeroed pages are read as histories")]

use std::io;
use std::ops::Range;

use super::race::{Conflict, History, Moment};
use crate::memory::Mapping;

/// Bytes of a word.
const WORD: usize = 4;

/// Bytes above which an array has pages of its own, which cost memory where they are touched.
const LARGE: usize = 64 << 10;

/// A zeroed array.
pub struct Sparse<T> {
    start: *mut T,
    length: usize,
    _owner: Owner<T>,
}

/// What keeps the memory.
enum Owner<T> {
    Small { _values: Vec<T> },
    Large { _mapping: Mapping },
}

/// Types for which zeros are the default.
pub trait Zero: Copy + Default {}
impl Zero for History {}
impl Zero for [History; WORD] {}
impl Zero for super::traffic::Line {}

// SAFETY: it owns its memory.
unsafe impl<T: Send> Send for Sparse<T> {}

impl<T: Zero> Sparse<T> {
    /// This many zeros.
    pub fn new(length: usize) -> io::Result<Sparse<T>> {
        let too_large = io::Error::from(io::ErrorKind::OutOfMemory);
        let room = length.checked_mul(size_of::<T>()).ok_or(too_large)?;
        if room <= LARGE {
            let mut values = vec![T::default(); length];
            let start = values.as_mut_ptr();
            return Ok(Sparse { start, length, _owner: Owner::Small { _values: values } });
        }
        let mapping = Mapping::new(room)?;
        let start = mapping.start().cast();
        Ok(Sparse { start, length, _owner: Owner::Large { _mapping: mapping } })
    }

    /// Elements of a range; those past the end are left out.
    pub fn range(&mut self, range: Range<usize>) -> &mut [T] {
        let end = range.end.min(self.length);
        let start = range.start.min(end);
        let first = self.start.wrapping_add(start);
        // SAFETY: within the memory, which is aligned and holds zeros or what was put there.
        unsafe { std::slice::from_raw_parts_mut(first, end - start) }
    }

    /// One element; none past the end.
    pub fn get(&mut self, index: usize) -> Option<&mut T> {
        let element = self.start.wrapping_add(index);
        // SAFETY: as in `range`.
        (index < self.length).then(|| unsafe { &mut *element })
    }
}

/// Histories of so many bytes.
pub struct Histories {
    words: Sparse<History>,
    /// Of words that are split.
    bytes: Sparse<[History; WORD]>,
}

impl Histories {
    /// Of untouched memory.
    pub fn new(length: usize) -> io::Result<Histories> {
        let words = length.div_ceil(WORD);
        Ok(Histories { words: Sparse::new(words)?, bytes: Sparse::new(words)? })
    }

    /// Adds an access to some bytes; what is wrong with the first of them that has something.
    #[inline]
    pub fn add(&mut self, range: Range<usize>, now: &Moment) -> Option<(usize, Conflict)> {
        let mut found = None;
        let mut at = range.start;
        while at < range.end {
            let word = at / WORD;
            let end = range.end.min((word + 1) * WORD);
            let Some(history) = self.words.get(word) else { break };
            let wrong = if end - at == WORD && !history.split {
                history.add(now).map(|conflict| (at, conflict))
            } else {
                self.part(word, at % WORD..end - word * WORD, now)
            };
            found = found.or(wrong);
            at = end;
        }
        found
    }

    /// Adds an access to some bytes of a word.
    fn part(&mut self, word: usize, part: Range<usize>, now: &Moment) -> Option<(usize, Conflict)> {
        let (whole, bytes) = (self.words.get(word)?, self.bytes.get(word)?);
        if !whole.split {
            *bytes = [*whole; WORD];
        }
        let mut found = None;
        for (index, byte) in bytes.iter_mut().enumerate() {
            if part.contains(&index) {
                let wrong = byte.add(now).map(|conflict| (word * WORD + index, conflict));
                found = found.or(wrong);
            }
        }
        *whole = bytes[0];
        whole.split = bytes.iter().any(|byte| *byte != bytes[0]);
        found
    }
}

/// Histories by address.
pub struct Shadow {
    parts: Vec<(Range<usize>, Histories)>,
}

impl Shadow {
    /// Covers these ranges, which may overlap.
    pub fn new(mut ranges: Vec<Range<usize>>) -> io::Result<Shadow> {
        ranges.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            // Whole words, so that words of memory are words of histories.
            let range = range.start / WORD * WORD..range.end;
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        let part = |range: Range<usize>| Ok((range.clone(), Histories::new(range.len())?));
        Ok(Shadow { parts: merged.into_iter().map(part).collect::<io::Result<_>>()? })
    }

    /// The part that covers a byte of the range, if one does.
    pub fn part(&self, range: &Range<usize>) -> Option<usize> {
        let overlaps =
            |(part, _): &(Range<usize>, _)| part.start < range.end && range.start < part.end;
        self.parts.iter().position(overlaps)
    }

    /// Adds an access to some bytes, as [`Histories::add`] does; places are of the range. `part` is
    /// where to look first.
    #[inline]
    pub fn add(
        &mut self,
        part: usize,
        range: &Range<usize>,
        now: &Moment,
    ) -> Option<(usize, Conflict)> {
        let covers = |part: &Range<usize>| part.start <= range.start && range.start < part.end;
        let usual = self.parts.get(part).is_some_and(|(part, _)| covers(part));
        let part = if usual { part } else { self.part(range)? };
        let (covered, histories) = self.parts.get_mut(part)?;
        // What lies before the part, or past its end, is not covered.
        let first = range.start.max(covered.start);
        let found = histories.add(first - covered.start..range.end - covered.start, now);
        found.map(|(at, conflict)| (at + covered.start - range.start, conflict))
    }
}

#[cfg(test)]
#[path = "shadow_tests.rs"]
mod tests;
