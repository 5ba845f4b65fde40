//! Takes apart what a target cannot run as it is.

use minfer_graph::{Node, Rewrite};

use crate::error::Error;
use crate::launch::Unsupported;
use crate::place::TargetId;
use crate::program::{Draft, Planned};

/// Replaces every node whose target refuses it by its decomposition, until all nodes are accepted.
/// A primitive that is refused is an error with the target's reason.
pub(crate) fn decompose(draft: &mut Draft<'_>) -> Result<(), Error> {
    let mut done: Vec<(Node, TargetId)> = Vec::with_capacity(draft.graph.nodes.len());
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
            return Err(refused(&target, &node, &unsupported));
        };
        draft.note(&node.name, format!("{} taken apart: {unsupported}", node.op.kind().name()));
        waiting.extend(parts.into_iter().rev().map(|part| (part, id)));
    }
    draft.replace(done)
}

pub(crate) fn refused(target: &Planned<'_>, node: &Node, unsupported: &Unsupported) -> Error {
    Error::Unsupported {
        target: target.target.caps().name.clone(),
        op: node.op.kind().name(),
        node: node.name.clone(),
        reason: unsupported.reason.clone(),
    }
}
