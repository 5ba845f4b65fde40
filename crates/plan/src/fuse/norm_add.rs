//! `add(rms_norm(x), residual)`, whichever comes first → `norm_add(x, residual)`.

use minfer_graph::Op;
use minfer_graph::op::norm_add::NormAdd;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let add = view.node(node);
    let Op::Add(_) = &add.op else { return None };
    let [a, b] = add.inputs[..] else { return None };
    [(b, a), (a, b)].into_iter().find_map(|(normed, residual)| {
        let (index, norm) = view.sole(normed)?;
        let Op::RmsNorm(op) = &norm.op else { return None };
        Some(Match {
            swallowed: vec![index],
            op: NormAdd { weight: op.weight, eps: op.eps }.into(),
            inputs: vec![norm.inputs[0], residual],
            outputs: add.outputs.clone(),
        })
    })
}
