//! How a step is cut into command buffers.
//!
//! A long command buffer freezes the display and can outlast the deadline, so that of a prompt ends
//! where the estimated work reaches a bound. Decode stays one for each step.

use std::ops::Range;
use std::time::Duration;

use minfer_graph::{Op, StateDecl, Tables};
use minfer_plan::{Inputs, Split};

use crate::caps::Limits;

/// Command buffers of a step at most: two such steps fit the queue.
const PIECES_MAX: usize = 1000;

/// Token rows up to which a step is one command buffer: as many as sequences can decode at once.
const DECODE: usize = 32;

/// The command buffers of a step, as ranges of the split's steps: one for each step where launches
/// are timed.
pub fn pieces(
    split: &Split,
    inputs: &Inputs,
    limits: &Limits,
    longest: Duration,
) -> Vec<Range<usize>> {
    let steps = split.steps.len();
    if inputs.profile {
        return cut(&vec![Duration::ZERO; steps], Duration::ZERO);
    }
    if inputs.tokens.len() <= DECODE {
        return std::iter::once(0..steps).collect();
    }
    let estimates: Vec<Duration> =
        (0..steps).map(|step| estimate(split, step, inputs, limits)).collect();
    cut(&estimates, longest)
}

/// Time that the slowest GPU takes for a step of a split.
fn estimate(split: &Split, step: usize, inputs: &Inputs, limits: &Limits) -> Duration {
    let node = split.node(&split.steps[step]);
    let graph = &split.graph;
    let counts = inputs.counts();
    let (x, y) = (graph.types(&node.inputs), graph.types(&node.outputs));
    let cost = node.op.cost(&x, &y, &graph.tables, &counts);
    let macs = match &node.op {
        // Its cost cannot know how deep the caches are.
        Op::Attention(op) => {
            let group = group(&graph.tables, op.state);
            let work = inputs.groups.get(group).map_or(&[][..], |group| &group.work);
            let scores: u64 = work
                .iter()
                .map(|work| work.rows as u64 * (work.kv_end - work.kv_start) as u64)
                .sum();
            2 * scores * x[0].cols as u64
        }
        _other => cost.macs,
    };
    let seconds = |amount: u64, rate: u64| amount as f64 / rate.max(1) as f64;
    let bytes = cost.weight_bytes + cost.activation_bytes;
    let time = seconds(macs, limits.macs_per_second).max(seconds(bytes, limits.bytes_per_second));
    Duration::try_from_secs_f64(time).unwrap_or_default()
}

fn group(tables: &Tables, state: minfer_graph::StateId) -> usize {
    match tables.state(state) {
        StateDecl::Paged { group, .. } => *group,
        StateDecl::PerSequence { .. } => usize::MAX,
    }
}

/// Neighbours that together take at most `longest`; those that take longer stand alone, and there
/// are never more than [`PIECES_MAX`].
fn cut(estimates: &[Duration], longest: Duration) -> Vec<Range<usize>> {
    let fewest = estimates.len().div_ceil(PIECES_MAX).max(1);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut filled = Duration::ZERO;
    for (step, estimate) in estimates.iter().enumerate() {
        let room = longest > Duration::ZERO && filled + *estimate <= longest;
        match pieces.last_mut().filter(|piece| room || piece.len() < fewest) {
            Some(piece) => {
                piece.end = step + 1;
                filled += *estimate;
            }
            None => {
                pieces.push(step..step + 1);
                filled = *estimate;
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests;
