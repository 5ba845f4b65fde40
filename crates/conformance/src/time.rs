//! How long a case's last step takes on a device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use minfer_graph::{Cost, StateId};
use minfer_plan::{Device, Error, Limit, PlacedState, Planned, single_split};

use crate::case::Case;
use crate::run::place_weights;

/// Runs of a step at least, after one that warms up.
const RUNS: usize = 3;

/// What the last step of a case took.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// Kernels of its nodes, each once.
    pub kernels: Vec<String>,
    /// The fastest of its runs, from submit to the end of the wait.
    pub best: Duration,
    /// What all its nodes cost together.
    pub cost: Cost,
}

/// Runs a case's steps, the last one again and again until `budget` is spent, and times it. `None`
/// where the device refuses an op. Splits loaded on the device before are not to be run any more.
pub fn time(
    case: &Case,
    device: &mut dyn Device,
    budget: Duration,
) -> Result<Option<Timed>, Error> {
    let (region, weights) = place_weights(case);
    device.weights(&[region], &weights)?;
    let placed = |(index, decl): (usize, &minfer_graph::StateDecl)| PlacedState {
        id: StateId(index as u32),
        decl: decl.clone(),
        pages: case.pages,
    };
    let states: Vec<PlacedState> = case.states.iter().enumerate().map(placed).collect();
    let state = device.state(&states)?;
    let mut timed = None;
    for (index, step) in case.steps.iter().enumerate() {
        let ids: Vec<_> = step.operands.iter().map(|(id, _)| *id).collect();
        let planned = Planned { target: device.target(), layouts: &[] };
        let split = match single_split(step.graph.clone(), ids, step.results.clone(), planned) {
            Err(Error::Unsupported { .. }) => return Ok(None),
            split => Arc::new(split?),
        };
        let loaded = device.load(split.clone(), state)?;
        let imports: Vec<&[u8]> = step.operands.iter().map(|(_, bytes)| &bytes[..]).collect();
        let mut run = || -> Result<Duration, Error> {
            let start = Instant::now();
            let ticket = device.submit(loaded, step.inputs.clone(), &imports)?;
            device.wait(ticket, &Limit::NONE)?;
            Ok(start.elapsed())
        };
        let mut best = run()?;
        if index + 1 < case.steps.len() {
            continue;
        }
        let (start, mut runs) = (Instant::now(), 0);
        while runs < RUNS || start.elapsed() < budget {
            best = best.min(run()?);
            runs += 1;
        }
        let mut kernels: Vec<String> = Vec::new();
        for step in &split.steps {
            if !kernels.contains(&step.launch.kernel) {
                kernels.push(step.launch.kernel.clone());
            }
        }
        timed = Some(Timed { kernels, best, cost: cost(step) });
    }
    Ok(timed)
}

/// What a step's nodes cost at its live rows.
fn cost(step: &crate::case::CaseStep) -> Cost {
    let (graph, counts) = (&step.graph, step.inputs.counts());
    graph.nodes.iter().fold(Cost::default(), |sum, node| {
        let (inputs, outputs) = (graph.types(&node.inputs), graph.types(&node.outputs));
        let cost = node.op.cost(&inputs, &outputs, &graph.tables, &counts);
        Cost {
            macs: sum.macs + cost.macs,
            weight_bytes: sum.weight_bytes + cost.weight_bytes,
            activation_bytes: sum.activation_bytes + cost.activation_bytes,
        }
    })
}
