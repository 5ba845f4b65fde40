//! `gate_up(rms_norm(x))` in f32 → `gate_up(x)`, which takes the norm in.

use minfer_graph::Op;
use minfer_graph::op::gate_up::GateUp;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let gate_up = view.node(node);
    let Op::GateUp(op) = &gate_up.op else { return None };
    let [normed] = gate_up.inputs[..] else { return None };
    let (index, norm) = view.sole(normed)?;
    let Op::RmsNorm(rms) = &norm.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: GateUp { input_norm: Some(rms.clone()), ..op.clone() }.into(),
        inputs: norm.inputs.clone(),
        outputs: gate_up.outputs.clone(),
    })
}
