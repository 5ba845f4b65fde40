//! `expert_matmul`: each token's activations times the matrices of its experts.

use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_plan::{Io, Unsupported};

use super::operands::{check_matrix, row_bytes};
use crate::arguments::ExpertMatmulArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

/// Weight rows of a threadgroup: two simdgroups of four.
const ROWS: usize = 8;

pub(super) fn lower(op: &ExpertMatmul, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let (x, experts) = (io.inputs[0], io.inputs[1]);
    check_matrix(io, op.weight, x)?;
    let weight = io.tables.weight(op.weight);
    // Activations come once per token, or once per pair.
    let per_token = x.rows == experts.rows;
    let arguments = ExpertMatmulArguments {
        cols: weight.cols as u32,
        outputs: weight.rows as u32,
        row_bytes: row_bytes(io, op.weight)?,
        ranks: if per_token { experts.cols as u32 } else { 1 },
    };
    Ok(vec![Dispatch {
        kernel: format!("expert_matmul_{}", weight.quant.name()),
        why: "a mat-vec for each pair of token and expert",
        buffers: vec![Slot::Input(0), Slot::Input(1), Slot::Weight(op.weight), Slot::Output(0)],
        arguments: arguments.bytes(),
        grid: Grid::each_row(weight.rows.div_ceil(ROWS), io.outputs[0].rows),
        threads: 64,
        threadgroup_memory: 0,
    }])
}
