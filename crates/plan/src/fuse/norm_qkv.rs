//! `qkv(rms_norm(x), …)` in f32 → `qkv(x, …)`, which takes the norm in.

use minfer_graph::Op;
use minfer_graph::op::qkv::Qkv;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let qkv = view.node(node);
    let Op::Qkv(op) = &qkv.op else { return None };
    let [normed, positions, slots] = qkv.inputs[..] else { return None };
    let (index, norm) = view.sole(normed)?;
    let Op::RmsNorm(rms) = &norm.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: Qkv { input_norm: Some(rms.clone()), ..op.clone() }.into(),
        inputs: vec![norm.inputs[0], positions, slots],
        outputs: qkv.outputs.clone(),
    })
}
