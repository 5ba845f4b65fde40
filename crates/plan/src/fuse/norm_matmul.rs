//! `matmul_group(rms_norm(x))` in f32 → `norm_matmul(x)`.

use minfer_graph::Op;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::norm_matmul::NormMatmul;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let matmul = view.node(node);
    let [x] = matmul.inputs[..] else { return None };
    let members = match &matmul.op {
        Op::MatmulGroup(op) => op.members.clone(),
        Op::Matmul(op) => vec![Member::new(op.weight, op.bias)],
        _other => return None,
    };
    let (index, norm) = view.sole(x)?;
    let Op::RmsNorm(rms) = &norm.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: NormMatmul { weight: rms.weight, eps: rms.eps, members }.into(),
        inputs: norm.inputs.clone(),
        outputs: matmul.outputs.clone(),
    })
}
