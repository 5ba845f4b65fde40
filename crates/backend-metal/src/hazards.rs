//! Where barriers stand between the launches of one command encoder.
//!
//! Launches of a concurrent encoder may overlap unless a barrier stands between them. Two launches
//! that touch the same bytes, one of them writing, need one: read after write, write after read,
//! write after write. Barriers are set as late as possible, so each of them is needed.

use std::ops::Range;

/// A memory that launches touch: each has bytes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

/// Bytes that a launch touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where.
    pub memory: MemoryId,
    /// Which bytes; an empty range touches nothing.
    pub bytes: Range<usize>,
    /// Whether it writes them (it may read them too).
    pub writes: bool,
}

impl Access {
    /// Whether the order of the two matters.
    pub fn conflicts(&self, other: &Access) -> bool {
        (self.writes || other.writes)
            && self.memory == other.memory
            && self.bytes.start.max(other.bytes.start) < self.bytes.end.min(other.bytes.end)
    }
}

/// For each launch, whether a barrier stands before it.
pub fn barriers(launches: &[Vec<Access>]) -> Vec<bool> {
    let mut open: Vec<&Access> = Vec::new();
    launches
        .iter()
        .map(|launch| {
            let needed = launch.iter().any(|new| open.iter().any(|old| old.conflicts(new)));
            if needed {
                open.clear();
            }
            open.extend(launch);
            needed
        })
        .collect()
}

#[cfg(test)]
mod tests;
