//! Takes apart what a target cannot run as it is.

use minfer_graph::{Graph, Node, OpKind, Rewrite};

use crate::error::Error;
use crate::launch::Unsupported;
use crate::operands;
use crate::place::{Placement, TargetId};
use crate::program::{Draft, Options, Planned};

/// A node that its target can run neither as it is nor taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which target.
    pub target: TargetId,
    /// The node's op.
    pub op: OpKind,
    /// Its name.
    pub node: String,
    /// Its layer; `None` before the first and after the last.
    pub layer: Option<usize>,
    /// The target's reason.
    pub reason: String,
}

/// Everything that keeps a graph off its targets; [`crate::plan`] fails with the first.
pub fn refusals(
    graph: &Graph,
    targets: &[Planned<'_>],
    placement: &Placement,
    options: &Options,
) -> Result<Vec<Refusal>, Error> {
    let mut draft = Draft::new(graph, targets, placement)?;
    if !options.exact {
        operands::choose(&mut draft)?;
    }
    decompose(&mut draft)
}

/// Replaces every node whose target refuses it by its decomposition, until all nodes are accepted;
/// gives the primitives that are refused.
pub(crate) fn decompose(draft: &mut Draft<'_>) -> Result<Vec<Refusal>, Error> {
    let mut done: Vec<(Node, TargetId)> = Vec::with_capacity(draft.graph.nodes.len());
    let mut refusals = Vec::new();
    let nodes = std::mem::take(&mut draft.graph.nodes);
    // A stack, so that a decomposition's own nodes are asked about next, in order.
    let mut waiting: Vec<(Node, TargetId)> =
        nodes.into_iter().zip(draft.placed.iter().copied()).rev().collect();
    while let Some((node, id)) = waiting.pop() {
        let target = draft.targets[id.0 as usize];
        let unsupported = match target.lower(&draft.graph, &node) {
            Ok(_) => {
                done.push((node, id));
                continue;
            }
            Err(unsupported) => unsupported,
        };
        let Ok(parts) = Rewrite::decompose(&mut draft.graph, &node) else {
            refusals.push(Refusal {
                target: id,
                op: node.op.kind(),
                node: node.name.clone(),
                layer: node.layer,
                reason: unsupported.reason.clone(),
            });
            done.push((node, id));
            continue;
        };
        draft.note(&node.name, format!("{} taken apart: {unsupported}", node.op.kind().name()));
        waiting.extend(parts.into_iter().rev().map(|part| (part, id)));
    }
    draft.replace(done)?;
    Ok(refusals)
}

impl Refusal {
    /// As planning fails with it.
    pub(crate) fn error(self, targets: &[Planned<'_>]) -> Error {
        Error::Unsupported {
            target: targets[self.target.0 as usize].target.caps().name.clone(),
            op: self.op.name(),
            node: self.node,
            reason: self.reason,
        }
    }
}

pub(crate) fn refused(target: &Planned<'_>, node: &Node, unsupported: &Unsupported) -> Error {
    Error::Unsupported {
        target: target.target.caps().name.clone(),
        op: node.op.kind().name(),
        node: node.name.clone(),
        reason: unsupported.reason.clone(),
    }
}
