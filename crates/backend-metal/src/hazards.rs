//! Where barriers stand between the launches of one command encoder.
//!
//! Launches of a concurrent encoder may overlap unless a barrier stands between them. Two launches
//! that touch the same bytes, one of them writing, need one: read after write, write after read,
//! write after write. Barriers are set as late as possible, so each of them is needed.

use std::ops::Range;

use minfer_graph::{Op, StateId, ValueId};
use minfer_plan::{Place, Split, Step};

use crate::dispatch::{Dispatch, Slot};

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

const ARENA: MemoryId = MemoryId(0);
const STAGING: MemoryId = MemoryId(1);

/// The K and the V pool of a state.
fn pool(id: StateId, value: bool) -> MemoryId {
    MemoryId(2 + 2 * id.0 + u32::from(value))
}

/// What a launch of a step touches. Weights and inputs are read alone, by all: they order nothing.
pub fn touched(split: &Split, step: &Step, dispatch: &Dispatch) -> Vec<Access> {
    let node = split.node(step);
    // Attention reads the cache; whatever else touches it stores into it.
    let stores = !matches!(node.op, Op::Attention(_));
    let whole = |memory, writes| Some(Access { memory, bytes: 0..usize::MAX, writes });
    let access = |slot: &Slot| match slot {
        Slot::Input(at) => reserved(split, node.inputs[*at], false),
        Slot::Output(at) => reserved(split, node.outputs[*at], true),
        Slot::Keys(id) => whole(pool(*id, false), stores),
        Slot::Values(id) => whole(pool(*id, true), stores),
        Slot::Scratch(bytes) => {
            let start = step.scratch.unwrap_or(0);
            let bytes = start + bytes.start..start + bytes.end;
            Some(Access { memory: ARENA, bytes, writes: true })
        }
        Slot::Weight(_) | Slot::Constant(_) | Slot::Unused => None,
    };
    dispatch.buffers.iter().filter_map(access).collect()
}

/// The bytes reserved for a value; nothing for a step's input.
fn reserved(split: &Split, value: ValueId, writes: bool) -> Option<Access> {
    let placed = split.placed(value)?;
    let memory = match placed.place {
        Place::Arena(_) => ARENA,
        Place::Staging(_) => STAGING,
    };
    Some(Access { memory, bytes: placed.reserved(), writes })
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
