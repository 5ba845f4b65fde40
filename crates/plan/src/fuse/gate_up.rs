//! `glu` of both outputs of a `matmul_group` of two → `gate_up`.

use minfer_graph::Op;
use minfer_graph::op::gate_up::GateUp;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let glu = view.node(node);
    let Op::Glu(op) = &glu.op else { return None };
    let [gate, up] = glu.inputs[..] else { return None };
    let (index, group) = view.sole(gate)?;
    let Op::MatmulGroup(matmul) = &group.op else { return None };
    if group.outputs != [gate, up] || view.sole(up).is_none() {
        return None;
    }
    Some(Match {
        swallowed: vec![index],
        op: GateUp { members: matmul.members.clone(), input_norm: None, function: op.function }
            .into(),
        inputs: group.inputs.clone(),
        outputs: glu.outputs.clone(),
    })
}
