//! `rms_norm(add(a, b))` → `add_norm(a, b)`; the sum stays readable.

use minfer_graph::Op;
use minfer_graph::op::add_norm::AddNorm;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let norm = view.node(node);
    let Op::RmsNorm(op) = &norm.op else { return None };
    let (index, add) = view.producer(norm.inputs[0])?;
    let Op::Add(_) = &add.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: AddNorm { weight: op.weight, eps: op.eps }.into(),
        inputs: add.inputs.clone(),
        outputs: vec![add.outputs[0], norm.outputs[0]],
    })
}
