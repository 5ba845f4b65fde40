//! `glu` of two `expert_matmul` of the same activations and experts → `expert_gate_up`.

use minfer_graph::op::expert_gate_up::ExpertGateUp;
use minfer_graph::{Op, ValueId, WeightId};

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let glu = view.node(node);
    let Op::Glu(op) = &glu.op else { return None };
    let [gate, up] = glu.inputs[..] else { return None };
    let (gate, up) = (product(view, gate)?, product(view, up)?);
    if gate.inputs != up.inputs {
        return None;
    }
    Some(Match {
        swallowed: vec![gate.node, up.node],
        op: ExpertGateUp { gate: gate.weight, up: up.weight, function: op.function }.into(),
        inputs: gate.inputs.to_vec(),
        outputs: glu.outputs.clone(),
    })
}

/// An `expert_matmul` that nothing else reads.
struct Product<'a> {
    node: usize,
    weight: WeightId,
    inputs: &'a [ValueId],
}

fn product<'a>(view: &View<'a>, value: ValueId) -> Option<Product<'a>> {
    let (node, matmul) = view.sole(value)?;
    let Op::ExpertMatmul(op) = &matmul.op else { return None };
    Some(Product { node, weight: op.weight, inputs: &matmul.inputs })
}
