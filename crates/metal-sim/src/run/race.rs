//! Who touched a byte, and whether anything orders the next access after it.
//!
//! Two accesses are ordered when one thread made both, when the threadgroup passed a barrier for
//! this memory in between, or when one simdgroup made both and passed a simdgroup barrier for it.
//! Threadgroups of a launch are never ordered; launches are where a barrier of the encoder says so.
//! Two atomic accesses need no order. Within this model the answer is exact, whatever order the
//! simulator happens to run threads in.

/// When and by whom an access is made.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The threadgroup, counted over all launches, from one.
    pub group: u32,
    /// Threadgroups up to here are done for certain: a barrier of the encoder came after.
    pub settled: u32,
    /// The thread's index in its threadgroup.
    pub thread: u16,
    /// Threadgroup barriers passed for this memory.
    pub epoch: u32,
    /// Simdgroup barriers that the thread's simdgroup passed for it.
    pub lane_epoch: u32,
    pub write: bool,
    pub atomic: bool,
    /// The memory holds nothing when a threadgroup begins.
    pub blank: bool,
}

/// The history of one byte, or of the four of a word that share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct History {
    /// The threadgroup that wrote last; zero for none.
    writer_group: u32,
    writer_epoch: u32,
    writer_lane_epoch: u32,
    writer: u16,
    /// The last write was atomic; how many wrote so: see [`History::SEVERAL`].
    writer_atomic: bool,
    writers: u8,
    /// The threadgroup that read last since; zero for none.
    reader_group: u32,
    reader_epoch: u32,
    /// Simdgroups that read in this epoch.
    reader_simdgroups: u32,
    /// Lanes of the last of them that read in its lane epoch.
    reader_lanes: u32,
    reader_lane_epoch: u32,
    reader_simdgroup: u8,
    /// Several threadgroups read.
    reader_groups: bool,
    /// Some read was not atomic.
    reader_plain: bool,
    /// Of a word: its bytes have histories of their own.
    pub split: bool,
}

/// What is wrong with an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// It reads what the threadgroup has not written.
    Blank,
    /// It is not ordered after another.
    Other(Other),
}

/// What an access is not ordered after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// It was a write.
    pub write: bool,
    /// Its threadgroup.
    pub group: u32,
    /// Its thread, where it is one.
    pub thread: Option<u16>,
}

impl History {
    /// Several threads of a threadgroup wrote it, each atomically.
    const SEVERAL: u8 = 1;
    /// Several threadgroups did.
    const GROUPS: u8 = 2;

    /// Adds an access; what is wrong with it, if anything.
    pub fn add(&mut self, now: &Moment) -> Option<Conflict> {
        if now.blank && !now.write && self.writer_group != now.group {
            return Some(Conflict::Blank);
        }
        self.order(now).map(Conflict::Other)
    }

    fn order(&mut self, now: &Moment) -> Option<Other> {
        let before = self.after_write(now);
        if now.write {
            let read = if before.is_none() { self.after_reads(now) } else { None };
            self.set_writer(now);
            return before.or(read);
        }
        self.add_reader(now);
        before
    }

    /// The last write, unless it is ordered before now.
    fn after_write(&self, now: &Moment) -> Option<Other> {
        if self.writer_group <= now.settled || (self.writer_atomic && now.atomic) {
            return None;
        }
        let (group, one) = (self.writer_group, self.writers == 0);
        let thread = (one && group == now.group).then_some(self.writer);
        let other = Other { write: true, group, thread };
        if group != now.group || self.writers == History::GROUPS {
            return Some(other);
        }
        let same_simdgroup = self.writer / 32 == now.thread / 32;
        let ordered = self.writer_epoch < now.epoch
            || (one && self.writer == now.thread)
            || (one && same_simdgroup && self.writer_lane_epoch < now.lane_epoch);
        (!ordered).then_some(other)
    }

    /// The reads since the last write, unless they are all ordered before now.
    fn after_reads(&self, now: &Moment) -> Option<Other> {
        if self.reader_group <= now.settled || (now.atomic && !self.reader_plain) {
            return None;
        }
        let other = Other { write: false, group: self.reader_group, thread: None };
        if self.reader_groups || self.reader_group != now.group {
            return Some(other);
        }
        if self.reader_epoch < now.epoch {
            return None;
        }
        let simdgroup = now.thread / 32;
        let last = u16::from(self.reader_simdgroup);
        if self.reader_simdgroups & !(1 << simdgroup) != 0 {
            let lane = self.reader_lanes.trailing_zeros() as u16;
            let thread = (last != simdgroup).then_some(last * 32 + lane % 32);
            return Some(Other { thread, ..other });
        }
        let others = self.reader_lanes & !(1 << (now.thread % 32));
        if self.reader_lane_epoch == now.lane_epoch && others != 0 {
            let lane = others.trailing_zeros() as u16;
            return Some(Other { thread: Some(last * 32 + lane), ..other });
        }
        None
    }

    fn set_writer(&mut self, now: &Moment) {
        let again = self.writer_group > now.settled && self.writer_atomic && now.atomic;
        self.writers = if !again {
            0
        } else if self.writer_group != now.group {
            History::GROUPS
        } else if self.writer != now.thread {
            self.writers.max(History::SEVERAL)
        } else {
            self.writers
        };
        self.writer_group = now.group;
        self.writer_epoch = now.epoch;
        self.writer_lane_epoch = now.lane_epoch;
        self.writer = now.thread;
        self.writer_atomic = now.atomic;
        self.reader_group = 0;
        self.reader_groups = false;
        self.reader_plain = false;
    }

    fn add_reader(&mut self, now: &Moment) {
        let (simdgroup, lane) = ((now.thread / 32) as u8, 1 << (now.thread % 32));
        let first = self.reader_group <= now.settled;
        self.reader_plain = !now.atomic || (self.reader_plain && !first);
        self.reader_groups = !first && (self.reader_groups || self.reader_group != now.group);
        let fresh = self.reader_group != now.group || self.reader_epoch != now.epoch;
        if fresh {
            self.reader_group = now.group;
            self.reader_epoch = now.epoch;
            self.reader_simdgroups = 0;
        }
        self.reader_simdgroups |= 1 << simdgroup;
        let continues = !fresh
            && self.reader_simdgroup == simdgroup
            && self.reader_lane_epoch == now.lane_epoch;
        self.reader_lanes = if continues { self.reader_lanes | lane } else { lane };
        self.reader_simdgroup = simdgroup;
        self.reader_lane_epoch = now.lane_epoch;
    }
}

#[cfg(test)]
#[path = "race_tests.rs"]
mod tests;
