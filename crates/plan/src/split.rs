//! Cuts a placed graph where the target changes.

use std::ops::Range;

use minfer_graph::{Graph, ValueId};

use crate::place::TargetId;

/// Values that cross a split's border.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Border {
    /// Defined by an earlier split, read here.
    pub(crate) imports: Vec<ValueId>,
    /// Defined here, read by a later split or by the host.
    pub(crate) exports: Vec<ValueId>,
}

/// Runs of nodes on one target.
pub(crate) fn ranges(placed: &[TargetId]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for end in 1..=placed.len() {
        if end == placed.len() || placed[end] != placed[start] {
            ranges.push(start..end);
            start = end;
        }
    }
    ranges
}

/// What crosses the border of the split made of `nodes`.
pub(crate) fn border(graph: &Graph, nodes: Range<usize>, keep_all: bool) -> Border {
    let producers = graph.producers();
    let inside = |value: ValueId| {
        producers[value.0 as usize].is_some_and(|n| nodes.contains(&(n.0 as usize)))
    };
    let mut border = Border::default();
    for (index, node) in graph.nodes.iter().enumerate() {
        for &value in &node.inputs {
            let here = nodes.contains(&index);
            let defined = producers[value.0 as usize].is_some();
            if here && defined && !inside(value) {
                insert(&mut border.imports, value);
            } else if !here && inside(value) {
                insert(&mut border.exports, value);
            }
        }
    }
    let kept = graph.nodes[nodes.clone()].iter().flat_map(|node| node.outputs.iter().copied());
    for value in kept.filter(|_| keep_all).chain(graph.outputs.iter().map(|o| o.value)) {
        if inside(value) {
            insert(&mut border.exports, value);
        }
    }
    border
}

fn insert(values: &mut Vec<ValueId>, value: ValueId) {
    if !values.contains(&value) {
        values.push(value);
    }
}
