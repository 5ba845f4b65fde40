//! The gate before a GPU: it runs all of what was to go there, or nothing. What keeps a model away
//! is told whole, so that its user knows what to ask for instead.

use minfer_graph::Graph;
use minfer_plan::{DeviceKind, Options, Placement, Planned, Refusal, refusals};

use crate::error::Error;
use crate::stats::DeviceMemory;

/// Of a GPU's working set, as much may be planned for; the rest is the system's and the display's.
pub(crate) const SHARE_PERCENT: u64 = 90;

/// Nodes that are alike, named in a report.
const NAMED: usize = 2;

/// Why a plan failed: of a GPU that refuses ops, all of them; of anything else, the error itself.
pub fn gate(
    error: minfer_plan::Error,
    graph: &Graph,
    targets: &[Planned<'_>],
    placement: &Placement,
    options: &Options,
) -> Error {
    let refusals = match &error {
        minfer_plan::Error::Unsupported { .. } => refusals(graph, targets, placement, options),
        _other => return error.into(),
    };
    let refusals = refusals.unwrap_or_default();
    let Some(first) = refusals.first() else { return error.into() };
    let caps = targets[first.target.0 as usize].target.caps();
    match caps.kind {
        DeviceKind::Metal | DeviceKind::Cuda => Error::Gate {
            device: caps.name.clone(),
            layers: placement.layers.iter().filter(|target| **target == first.target).count(),
            of: placement.layers.len(),
            refused: reasons(&refusals),
            possible: last_layers_without(&refusals, placement.layers.len()),
        },
        DeviceKind::Reference | DeviceKind::Cpu => error.into(),
    }
}

/// A line for each op and reason.
fn reasons(refusals: &[Refusal]) -> Vec<String> {
    let mut alike: Vec<(&Refusal, Vec<&str>)> = Vec::new();
    for refusal in refusals {
        let same = |(first, _): &&mut (&Refusal, Vec<&str>)| {
            (first.op, &first.reason) == (refusal.op, &refusal.reason)
        };
        match alike.iter_mut().find(same) {
            Some((_, nodes)) => nodes.push(&refusal.node),
            None => alike.push((refusal, vec![&refusal.node])),
        }
    }
    let line = |(first, nodes): &(&Refusal, Vec<&str>)| {
        let named = nodes[..nodes.len().min(NAMED)].join(", ");
        let more = match nodes.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{} ({named}{more}): {}", first.op.name(), first.reason)
    };
    alike.iter().map(line).collect()
}

/// How many of the last layers have no refused node.
fn last_layers_without(refusals: &[Refusal], layers: usize) -> usize {
    let last = refusals.iter().filter_map(|refusal| refusal.layer).max();
    last.map_or(layers, |last| layers - (last + 1).min(layers))
}

/// Refuses what a GPU could only hold by moving pages in and out in each step.
pub(crate) fn check_working_set(memory: &DeviceMemory, working_set: u64) -> Result<(), Error> {
    let allowed = working_set / 100 * SHARE_PERCENT;
    let DeviceMemory { weights_bytes, kv_bytes, arena_bytes, .. } = *memory;
    if weights_bytes + kv_bytes + arena_bytes <= allowed {
        return Ok(());
    }
    Err(Error::WorkingSet {
        device: memory.name.clone(),
        allowed,
        weights: weights_bytes,
        kv: kv_bytes,
        arena: arena_bytes,
    })
}
