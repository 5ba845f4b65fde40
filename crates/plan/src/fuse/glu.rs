//! `mul(unary(gate), up)` → `glu(gate, up)`.

use minfer_graph::Op;
use minfer_graph::op::glu::Glu;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let mul = view.node(node);
    let [act, up] = mul.inputs[..] else { return None };
    let (index, unary) = view.sole(act)?;
    let Op::Unary(op) = &unary.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: Glu { function: op.function }.into(),
        inputs: vec![unary.inputs[0], up],
        outputs: mul.outputs.clone(),
    })
}
