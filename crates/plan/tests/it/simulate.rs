//! Carries out a program on an abstract memory, of which each aligned unit knows what was last
//! written to it. Nothing here uses the planner's own bookkeeping.

use std::collections::{BTreeMap, BTreeSet};

use minfer_graph::{Graph, Node, ValueId};
use minfer_plan::{Memory, Place, Program, Split};

use crate::target::ALIGNMENT;

/// What a unit of memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    Nothing,
    Value(ValueId),
    Scratch,
}

type Range = std::ops::Range<usize>;

fn units(offset: usize, bytes: usize) -> Range {
    offset / ALIGNMENT..(offset + bytes).div_ceil(ALIGNMENT)
}

fn overlap(a: &Range, b: &Range) -> bool {
    a.start < b.end && b.start < a.end
}

/// Runs all splits; the first broken promise is the error.
pub fn program(program: &Program) -> Result<(), String> {
    let mut exported = BTreeSet::new();
    let mut next = 0;
    for (index, split) in program.splits.iter().enumerate() {
        let at = |what: String| format!("split {index}: {what}");
        for import in &split.imports {
            if !exported.contains(import) {
                return Err(at(format!("no earlier split exports {import:?}")));
            }
        }
        Run::new(split).map_err(at)?.all().map_err(at)?;
        for step in &split.steps {
            if step.node.0 != next {
                return Err(at(format!("step of node {} where {next} is due", step.node.0)));
            }
            next += 1;
        }
        exported.extend(split.exports.iter().copied());
    }
    let missing = program.outputs.iter().find(|output| !exported.contains(&output.value));
    match missing {
        Some(output) => Err(format!("nobody exports output {output:?}")),
        None if next as usize != program.graph.nodes.len() => Err("nodes are left over".into()),
        None => Ok(()),
    }
}

struct Run<'a> {
    split: &'a Split,
    graph: &'a Graph,
    arena: Vec<Held>,
    staging: BTreeMap<ValueId, bool>,
}

impl<'a> Run<'a> {
    fn new(split: &'a Split) -> Result<Run<'a>, String> {
        let Memory { places, arena_bytes, staging_bytes } = &split.memory;
        let graph = &*split.graph;
        let mut staged: Vec<Range> = Vec::new();
        let mut staging = BTreeMap::new();
        for (&value, place) in places {
            let bytes = graph.ty(value).bytes(&graph.tables.shape);
            let (offset, limit) = match place {
                Place::Arena(offset) => (*offset, *arena_bytes),
                Place::Staging(offset) => (*offset, *staging_bytes),
            };
            if offset % ALIGNMENT != 0 || offset + bytes > limit {
                return Err(format!("{value:?} of {bytes} bytes at {place:?} of {limit}"));
            }
            if let Place::Staging(offset) = place {
                let range = units(*offset, bytes);
                if staged.iter().any(|other| overlap(other, &range)) {
                    return Err(format!("staging of {value:?} is shared"));
                }
                staged.push(range);
                staging.insert(value, split.imports.contains(&value));
            }
        }
        let crossing: BTreeSet<_> = split.imports.iter().chain(&split.exports).copied().collect();
        if !crossing.iter().eq(staging.keys()) {
            return Err(format!("{crossing:?} cross, {staging:?} are staged"));
        }
        Ok(Run { split, graph, arena: vec![Held::Nothing; arena_bytes / ALIGNMENT], staging })
    }

    fn all(mut self) -> Result<(), String> {
        let split = self.split;
        for (index, step) in split.steps.iter().enumerate() {
            let node = split.node(step);
            self.step(node, step.scratch.map(|at| units(at, step.launch.scratch)))
                .and_then(|()| self.aliases(index, node))
                .map_err(|what| format!("step {index} ({}): {what}", node.name))?;
            if step.scratch.is_some() != (step.launch.scratch > 0) {
                return Err(format!("step {index} has no place for its scratch"));
            }
        }
        match split.exports.iter().find(|export| self.staging.get(export) != Some(&true)) {
            Some(export) => Err(format!("export {export:?} is never written")),
            None => Ok(()),
        }
    }

    fn arena_range(&self, value: ValueId) -> Option<Range> {
        match self.split.memory.place(value)? {
            Place::Arena(offset) => {
                Some(units(offset, self.graph.ty(value).bytes(&self.graph.tables.shape)))
            }
            Place::Staging(_) => None,
        }
    }

    fn step(&mut self, node: &Node, scratch: Option<Range>) -> Result<(), String> {
        for &value in &node.inputs {
            let ready = match self.split.memory.place(value) {
                None => self.graph.values[value.0 as usize].input.is_some(),
                Some(Place::Staging(_)) => self.staging[&value],
                Some(Place::Arena(_)) => {
                    let range = self.arena_range(value).unwrap_or_default();
                    self.arena[range].iter().all(|&held| held == Held::Value(value))
                }
            };
            if !ready {
                return Err(format!("{value:?} is not there when it is read"));
            }
        }
        let mut written: Vec<Range> = Vec::new();
        if let Some(range) = scratch {
            let ends = node.inputs.iter().chain(&node.outputs);
            let used = ends.filter_map(|&value| self.arena_range(value));
            if used.into_iter().any(|other| overlap(&other, &range)) {
                return Err("scratch lies over an operand or a result".into());
            }
            self.arena[range].fill(Held::Scratch);
        }
        for &value in &node.outputs {
            let Some(range) = self.arena_range(value) else {
                if self.staging.insert(value, true) != Some(false) {
                    return Err(format!("{value:?} is staged twice or nowhere"));
                }
                continue;
            };
            if written.iter().any(|other| overlap(other, &range)) {
                return Err(format!("{value:?} lies over another result"));
            }
            self.arena[range.clone()].fill(Held::Value(value));
            written.push(range);
        }
        Ok(())
    }

    /// A result lies over an operand only where the op works in place and nobody reads the operand
    /// again.
    fn aliases(&self, index: usize, node: &Node) -> Result<(), String> {
        for (position, &output) in node.outputs.iter().enumerate() {
            for (operand, &input) in node.inputs.iter().enumerate() {
                let (Some(to), Some(from)) = (self.arena_range(output), self.arena_range(input))
                else {
                    continue;
                };
                if !overlap(&to, &from) {
                    continue;
                }
                let in_place = position == 0 && node.op.def().in_place() == Some(operand);
                let later = &self.split.steps[index + 1..];
                let again = later.iter().any(|s| self.split.node(s).inputs.contains(&input));
                let twice = node.inputs.iter().filter(|&&value| value == input).count() > 1;
                if !in_place || to != from || again || twice {
                    return Err(format!("{output:?} lies over {input:?}"));
                }
            }
        }
        Ok(())
    }
}

/// For each split, the most bytes that are alive at one instant, a value that is taken over counted
/// once.
pub fn live_bytes(program: &Program) -> Vec<usize> {
    program.splits.iter().map(|split| most_alive(split)).collect()
}

fn most_alive(split: &Split) -> usize {
    let graph = &*split.graph;
    let bytes = |value: ValueId| graph.ty(value).bytes(&graph.tables.shape);
    let in_arena = |value: &ValueId| matches!(split.memory.place(*value), Some(Place::Arena(_)));
    let mut most = 0;
    for (index, step) in split.steps.iter().enumerate() {
        let node = split.node(step);
        let defined = split.steps[..=index].iter().flat_map(|s| split.node(s).outputs.clone());
        let alive = defined.filter(in_arena).filter(|value| {
            let readers = split.steps[index..].iter();
            node.outputs.contains(value)
                || readers.clone().any(|s| split.node(s).inputs.contains(value))
        });
        let taken_over = node.outputs.first().zip(node.op.def().in_place());
        let taken_over = taken_over.map(|(output, operand)| (*output, node.inputs[operand]));
        let shared =
            taken_over.filter(|(to, from)| split.memory.place(*to) == split.memory.place(*from));
        let total: usize = alive.map(bytes).sum();
        most = most.max(total - shared.map_or(0, |(_, from)| bytes(from)) + step.launch.scratch);
    }
    most
}
