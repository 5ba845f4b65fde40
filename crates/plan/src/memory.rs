//! The memory plan of a split: lifetimes become offsets.
//!
//! Values that live within the split share one arena: an offset is re-used once its value has no
//! reader left, and an op that may work in place takes over its operand's memory when nothing else
//! reads it. Imports and exports lie in the staging area and are never re-used, since a copy or the
//! host may be reading them. Scratch memory lives in the arena for one step.

use std::collections::BTreeMap;

use minfer_graph::{Graph, Node, ValueId};

use crate::program::Step;
use crate::split::Border;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At an offset of the arena.
    Arena(usize),
    /// At an offset of the staging area.
    Staging(usize),
}

/// Places of a split's values. Step inputs have none: a device keeps them where it likes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Place of each value that the split defines or imports.
    pub places: BTreeMap<ValueId, Place>,
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Bytes of the staging area; a device keeps two of it for two steps in flight.
    pub staging_bytes: usize,
}

impl Memory {
    /// Place of a value of the split.
    pub fn place(&self, value: ValueId) -> Option<Place> {
        self.places.get(&value).copied()
    }
}

/// A taken part of the arena.
struct Taken {
    offset: usize,
    bytes: usize,
    /// Last step that needs it.
    last: usize,
}

pub(crate) fn lay_out(
    graph: &Graph,
    steps: Vec<Step>,
    border: &Border,
    alignment: usize,
) -> (Memory, Vec<Step>) {
    let mut plan = Layouter {
        graph,
        last_use: last_uses(graph, &steps),
        alignment,
        memory: Memory::default(),
        taken: Vec::new(),
    };
    for &value in border.imports.iter().chain(&border.exports) {
        plan.stage(value);
    }
    let steps = steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| {
            let node = &graph.nodes[step.node.0 as usize];
            plan.step(index, node);
            let scratch = match step.launch.scratch {
                0 => None,
                bytes => Some(plan.take(bytes, index, index)),
            };
            Step { scratch, ..step }
        })
        .collect();
    (plan.memory, steps)
}

/// For each value, the last step of the split that reads it.
fn last_uses(graph: &Graph, steps: &[Step]) -> Vec<Option<usize>> {
    let mut last = vec![None; graph.values.len()];
    for (index, step) in steps.iter().enumerate() {
        for value in &graph.nodes[step.node.0 as usize].inputs {
            last[value.0 as usize] = Some(index);
        }
    }
    last
}

struct Layouter<'a> {
    graph: &'a Graph,
    last_use: Vec<Option<usize>>,
    alignment: usize,
    memory: Memory,
    taken: Vec<Taken>,
}

impl Layouter<'_> {
    fn bytes(&self, value: ValueId) -> usize {
        self.graph.ty(value).bytes(&self.graph.tables.shape)
    }

    fn stage(&mut self, value: ValueId) {
        if self.memory.places.contains_key(&value) {
            return;
        }
        let offset = self.memory.staging_bytes;
        self.memory.places.insert(value, Place::Staging(offset));
        self.memory.staging_bytes += self.bytes(value).next_multiple_of(self.alignment);
    }

    /// Gives places to the outputs of a step.
    fn step(&mut self, index: usize, node: &Node) {
        for (position, &value) in node.outputs.iter().enumerate() {
            if self.memory.places.contains_key(&value) {
                continue;
            }
            let last = self.last_use[value.0 as usize].unwrap_or(index).max(index);
            let alias = if position == 0 { self.alias(index, node, value) } else { None };
            let offset = match alias {
                Some(offset) => {
                    for taken in self.taken.iter_mut().filter(|t| t.offset == offset) {
                        taken.last = last;
                    }
                    offset
                }
                None => self.take(self.bytes(value), index, last),
            };
            self.memory.places.insert(value, Place::Arena(offset));
        }
    }

    /// Offset that output `value` may take over from the operand which the op can work in place on:
    /// the operand lies in the arena, is as large, and this step is the only one left to read it,
    /// once.
    fn alias(&self, index: usize, node: &Node, value: ValueId) -> Option<usize> {
        let operand = node.inputs[node.op.def().in_place()?];
        let reads = node.inputs.iter().filter(|&&v| v == operand).count();
        let sole = reads == 1 && self.last_use[operand.0 as usize] == Some(index);
        match self.memory.place(operand) {
            Some(Place::Arena(offset)) if sole && self.bytes(operand) == self.bytes(value) => {
                Some(offset)
            }
            Some(Place::Arena(_) | Place::Staging(_)) | None => None,
        }
    }

    /// Takes the lowest gap that is free in steps `from..=last`.
    fn take(&mut self, bytes: usize, from: usize, last: usize) -> usize {
        self.taken.retain(|taken| taken.last >= from);
        self.taken.sort_unstable_by_key(|taken| taken.offset);
        let bytes = bytes.max(1).next_multiple_of(self.alignment);
        let mut offset = 0;
        for taken in &self.taken {
            if offset + bytes <= taken.offset {
                break;
            }
            offset = offset.max(taken.offset + taken.bytes);
        }
        self.taken.push(Taken { offset, bytes, last });
        self.memory.arena_bytes = self.memory.arena_bytes.max(offset + bytes);
        offset
    }
}
