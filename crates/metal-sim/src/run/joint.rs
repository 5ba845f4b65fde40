//! How well the lanes of a simdgroup share lines.
//!
//! A GPU executes an instruction for all lanes at once; the simulator runs lanes one after the
//! other between two rendezvous. What belongs together is the nth execution of one instruction by
//! each lane, counted since the last rendezvous of the simdgroup.

use std::collections::HashMap;

use super::core::SIMDGROUPS;
use crate::traffic::{BufferTraffic, LINE};

/// An instruction, and how often the lane has been there.
type Place = (u64, u32);

/// One execution of an instruction by some lanes.
#[derive(Default)]
struct Joint {
    buffer: usize,
    bytes: usize,
    lines: Vec<usize>,
}

/// What the lanes of one simdgroup did since its last rendezvous.
#[derive(Default)]
struct Interval {
    group: u32,
    sequence: u64,
    joints: HashMap<Place, Joint>,
    /// Executions of each instruction by the lane that runs.
    lane: usize,
    turns: HashMap<u64, u32>,
}

/// The intervals of a threadgroup.
#[derive(Default)]
pub struct Joints {
    intervals: [Interval; SIMDGROUPS],
}

/// Who accesses, and when.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub pc: u64,
    pub thread: usize,
    pub group: u32,
    /// Rendezvous of the simdgroup so far.
    pub sequence: u64,
}

impl Joints {
    /// Adds an access to bytes of a buffer.
    pub fn add(
        &mut self,
        access: Access,
        buffer: usize,
        bytes: std::ops::Range<usize>,
        totals: &mut [BufferTraffic],
    ) {
        let Access { pc, thread, group, sequence } = access;
        let Some(interval) = self.intervals.get_mut(thread / 32) else { return };
        if (interval.group, interval.sequence) != (group, sequence) {
            interval.finish(totals);
            (interval.group, interval.sequence) = (group, sequence);
            interval.turns.clear();
        }
        if interval.lane != thread {
            interval.lane = thread;
            interval.turns.clear();
        }
        let turn = interval.turns.entry(pc).or_default();
        let joint = interval.joints.entry((pc, *turn)).or_default();
        *turn += 1;
        joint.buffer = buffer;
        joint.bytes += bytes.len();
        for line in bytes.start / LINE..bytes.end.div_ceil(LINE) {
            if !joint.lines.contains(&line) {
                joint.lines.push(line);
            }
        }
    }

    /// Counts what is left.
    pub fn finish(&mut self, totals: &mut [BufferTraffic]) {
        for interval in &mut self.intervals {
            interval.finish(totals);
        }
    }
}

impl Interval {
    fn finish(&mut self, totals: &mut [BufferTraffic]) {
        for (_, joint) in self.joints.drain() {
            let Some(total) = totals.get_mut(joint.buffer) else { continue };
            total.accesses += 1;
            total.access_lines += joint.lines.len() as u64;
            total.access_lines_least += joint.bytes.div_ceil(LINE) as u64;
        }
    }
}
