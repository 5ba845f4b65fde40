//! Counters of what a running launch reads and writes.

use std::io;

use super::joint::{Access, Joints};
use super::shadow::Sparse;
use crate::traffic::{BufferTraffic, LINE, Traffic};

/// One line of a buffer.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Line {
    /// Bytes that the last threadgroup to load from it loaded.
    loaded: u64,
    /// That threadgroup.
    group: u32,
    read: bool,
    written: bool,
    full: bool,
}

/// The lines and totals of one buffer.
struct Buffer {
    lines: Sparse<Line>,
    /// Bytes of the first line that lie before the slice.
    skew: usize,
}

/// Counters of a launch.
pub struct Counters {
    buffers: Vec<Buffer>,
    /// One total a buffer, in the same order.
    total: Traffic,
    joints: Option<Box<Joints>>,
}

impl Counters {
    /// For buffers of this index, name, offset and length.
    pub fn new(
        kernel: &str,
        buffers: impl Iterator<Item = (u32, String, usize, usize)>,
        coalescing: bool,
    ) -> io::Result<Counters> {
        let mut total = Traffic { kernel: kernel.to_owned(), ..Traffic::default() };
        let mut lines = Vec::new();
        for (index, name, offset, length) in buffers {
            let skew = offset % LINE;
            lines.push(Buffer { lines: Sparse::new((skew + length).div_ceil(LINE))?, skew });
            total.buffers.push(BufferTraffic { index, name, ..BufferTraffic::default() });
        }
        let joints = coalescing.then(Box::default);
        Ok(Counters { buffers: lines, total, joints })
    }

    /// For no launch.
    pub fn none() -> Counters {
        Counters { buffers: Vec::new(), total: Traffic::default(), joints: None }
    }

    /// An access to a buffer, by its place among the buffers.
    pub fn buffer(&mut self, place: usize, offset: usize, size: usize, by: Access, write: bool) {
        let Some(buffer) = self.buffers.get_mut(place) else { return };
        let (first, end) = (offset + buffer.skew, offset + buffer.skew + size);
        if let Some(joints) = &mut self.joints {
            joints.add(by, place, first..end, &mut self.total.buffers);
        }
        let Some(total) = self.total.buffers.get_mut(place) else { return };
        let bytes = if write { &mut total.written } else { &mut total.read };
        *bytes += size as u64;
        let lines = first / LINE..end.div_ceil(LINE);
        let start = lines.start * LINE;
        for (index, line) in buffer.lines.range(lines).iter_mut().enumerate() {
            let low = start + index * LINE;
            let from = first.max(low) - low;
            let upto = end.min(low + LINE) - low;
            line.add(bits(from, upto), by.group, write, total);
        }
    }

    /// An access to threadgroup memory.
    pub fn threadgroup(&mut self, size: usize, write: bool) {
        let bytes = if write {
            &mut self.total.threadgroup_written
        } else {
            &mut self.total.threadgroup_read
        };
        *bytes += size as u64;
    }

    /// The totals.
    pub fn finish(mut self) -> Traffic {
        if let Some(joints) = &mut self.joints {
            joints.finish(&mut self.total.buffers);
        }
        self.total
    }
}

/// Ones from a bit up to another.
fn bits(from: usize, upto: usize) -> u64 {
    match upto - from {
        0 => 0,
        count => (u64::MAX >> (64 - count.min(64))) << (from % 64),
    }
}

impl Line {
    fn add(&mut self, bytes: u64, group: u32, write: bool, total: &mut BufferTraffic) {
        if write {
            total.lines_written += u64::from(!self.written);
            self.written = true;
            return;
        }
        total.lines_read += u64::from(!self.read);
        self.read = true;
        if self.group != group {
            self.group = group;
            self.loaded = 0;
        }
        self.loaded |= bytes;
        if self.loaded == u64::MAX && !self.full {
            self.full = true;
            total.lines_full += 1;
        }
    }
}
