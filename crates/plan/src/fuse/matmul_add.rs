//! `add(matmul(x), residual)`, whichever comes first → `matmul_add(x, residual)`.

use minfer_graph::Op;
use minfer_graph::op::matmul_add::MatmulAdd;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let add = view.node(node);
    let Op::Add(_) = &add.op else { return None };
    let [a, b] = add.inputs[..] else { return None };
    [(b, a), (a, b)].into_iter().find_map(|(product, residual)| {
        let (index, matmul) = view.sole(product)?;
        let Op::Matmul(op) = &matmul.op else { return None };
        Some(Match {
            swallowed: vec![index],
            op: MatmulAdd { weight: op.weight, bias: op.bias }.into(),
            inputs: vec![matmul.inputs[0], residual],
            outputs: add.outputs.clone(),
        })
    })
}
