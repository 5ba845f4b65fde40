//! `quantize_rows(glu(gate, up))` → `glu_quantize(gate, up)`.

use minfer_graph::Op;
use minfer_graph::op::glu_quantize::GluQuantize;

use super::{Match, View};

pub(super) fn find(view: &View<'_>, node: usize) -> Option<Match> {
    let quantize = view.node(node);
    let Op::QuantizeRows(op) = &quantize.op else { return None };
    let (index, product) = view.sole(quantize.inputs[0])?;
    let Op::Glu(glu) = &product.op else { return None };
    Some(Match {
        swallowed: vec![index],
        op: GluQuantize { function: glu.function, dtype: op.dtype }.into(),
        inputs: product.inputs.clone(),
        outputs: quantize.outputs.clone(),
    })
}
