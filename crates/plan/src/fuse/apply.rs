//! Carrying out what patterns find.

use minfer_graph::{Graph, Node, NodeId, Op, ValueId};

use super::Fusion;
use crate::error::Error;
use crate::program::Draft;

/// What a pattern found: the nodes to swallow and the composite that replaces them.
pub(super) struct Match {
    pub(super) swallowed: Vec<usize>,
    pub(super) op: Op,
    pub(super) inputs: Vec<ValueId>,
    pub(super) outputs: Vec<ValueId>,
}

/// A graph with what patterns ask of it.
pub(super) struct View<'a> {
    pub(super) graph: &'a Graph,
    uses: Vec<usize>,
    producers: Vec<Option<NodeId>>,
}

impl<'a> View<'a> {
    fn new(graph: &'a Graph) -> View<'a> {
        View { graph, uses: graph.uses(), producers: graph.producers() }
    }

    pub(super) fn node(&self, index: usize) -> &'a Node {
        &self.graph.nodes[index]
    }

    /// The node that defines `value`.
    pub(super) fn producer(&self, value: ValueId) -> Option<(usize, &'a Node)> {
        let index = self.producers[value.0 as usize]?.0 as usize;
        Some((index, self.node(index)))
    }

    /// The node that defines `value`, if `value` has one reader.
    pub(super) fn sole(&self, value: ValueId) -> Option<(usize, &'a Node)> {
        if self.uses[value.0 as usize] == 1 { self.producer(value) } else { None }
    }
}

/// Runs the fusions over the draft, one after the other.
pub(crate) fn fuse(draft: &mut Draft<'_>, fusions: &[Fusion]) -> Result<(), Error> {
    for &fusion in fusions {
        let mut index = 0;
        while index < draft.graph.nodes.len() {
            let swallowed = match matches_kind(fusion, &draft.graph.nodes[index].op) {
                true => try_at(draft, fusion, index).unwrap_or(0),
                false => 0,
            };
            // Swallowed nodes lay before this one: what follows has moved up.
            index = index + 1 - swallowed;
        }
        draft.graph.verify()?;
    }
    Ok(())
}

/// Whether a pattern can end at such an op; saves building a [`View`] for every node.
fn matches_kind(fusion: Fusion, op: &Op) -> bool {
    match fusion {
        Fusion::Glu => matches!(op, Op::Mul(_)),
        Fusion::GateUp | Fusion::ExpertGateUp => matches!(op, Op::Glu(_)),
        Fusion::Qkv => matches!(op, Op::KvStore(_)),
        Fusion::NormQkv => matches!(op, Op::Qkv(_)),
        Fusion::NormGateUp => matches!(op, Op::GateUp(_)),
        Fusion::MatmulAdd | Fusion::NormAdd => matches!(op, Op::Add(_)),
        Fusion::NormQuantize | Fusion::GluQuantize => matches!(op, Op::QuantizeRows(_)),
        Fusion::AddNorm => matches!(op, Op::RmsNorm(_)),
        Fusion::NormMatmul => matches!(op, Op::MatmulGroup(_) | Op::Matmul(_)),
    }
}

/// Fuses at one node; gives how many nodes before it that took, if it did.
fn try_at(draft: &mut Draft<'_>, fusion: Fusion, index: usize) -> Option<usize> {
    let view = View::new(&draft.graph);
    let found = fusion.find(&view, index)?;
    if found.swallowed.iter().any(|&n| draft.placed[n] != draft.placed[index]) {
        return None;
    }
    let last = view.node(index);
    let node = Node {
        op: found.op,
        inputs: found.inputs,
        outputs: found.outputs,
        layer: last.layer,
        name: last.name.clone(),
    };
    if used_between(&draft.graph, &found.swallowed, index) {
        return None;
    }
    draft.target(index).lower(&draft.graph, &node).ok()?;
    draft.graph.nodes[index] = node;
    let mut swallowed = found.swallowed;
    swallowed.sort_unstable_by(|a, b| b.cmp(a));
    for &n in &swallowed {
        draft.graph.nodes.remove(n);
        draft.placed.remove(n);
    }
    Some(swallowed.len())
}

/// Whether a node that stays reads a swallowed node's result before the composite would define it.
fn used_between(graph: &Graph, swallowed: &[usize], last: usize) -> bool {
    let Some(&first) = swallowed.iter().min() else { return false };
    (first..last).filter(|n| !swallowed.contains(n)).any(|n| {
        let reads = &graph.nodes[n].inputs;
        swallowed.iter().any(|&s| graph.nodes[s].outputs.iter().any(|v| reads.contains(v)))
    })
}
