//! `quantize_rows(rms_norm(x))` → `norm_quantize(x)`.

use minfer_graph::Op;
use minfer_graph::op::norm_quantize::NormQuantize;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let quantize = view.node(node);
    let Op::QuantizeRows(op) = &quantize.op else { return None };
    let (index, norm) = view.sole(quantize.inputs[0])?;
    let Op::RmsNorm(rms) = &norm.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: NormQuantize { weight: rms.weight, eps: rms.eps, dtype: op.dtype }.into(),
        inputs: norm.inputs.clone(),
        outputs: quantize.outputs.clone(),
    })
}
