//! `expert_gate_up`: both products and the activation of each pair of token and expert.

use minfer_graph::op::expert_gate_up::ExpertGateUp;
use minfer_plan::{Io, Unsupported};

use super::expert_matmul::{ROWS, ranks};
use super::launch::code;
use super::matmul::few_shape;
use super::operands::{check_matrix, row_bytes};
use crate::arguments::ExpertGateUpArguments;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::tune::How;

/// Why its parts are launched instead.
const TILES: &str = "more than 8 tokens share the tiles of their experts, a product at a time";

pub(super) fn lower(
    op: &ExpertGateUp,
    io: &Io<'_>,
    how: How,
) -> Result<Vec<Dispatch>, Unsupported> {
    let [gate, up] = [op.gate, op.up].map(|weight| io.tables.weight(weight));
    if few_shape(io.inputs[1].rows, io, how).is_none() {
        return Err(Unsupported::because(TILES));
    }
    if gate.quant != up.quant {
        let (gate, up) = (gate.quant.name(), up.quant.name());
        return Err(Unsupported::because(format!("gates in {gate} beside {up}")));
    }
    check_matrix(io, op.gate, io.inputs[0])?;
    check_matrix(io, op.up, io.inputs[0])?;
    let (function, factor) = code(op.function);
    let arguments = ExpertGateUpArguments {
        cols: gate.cols as u32,
        outputs: gate.rows as u32,
        row_bytes: row_bytes(io, op.gate)?,
        ranks: ranks(io),
        function,
        factor,
    };
    Ok(vec![Dispatch {
        kernel: format!("expert_gate_up_{}", gate.quant.name()),
        why: "both products of a pair and the activation at once",
        buffers: vec![
            Slot::Input(0),
            Slot::Input(1),
            Slot::Weight(op.gate),
            Slot::Weight(op.up),
            Slot::Output(0),
        ],
        arguments: arguments.bytes(),
        grid: Grid::each_row(gate.rows.div_ceil(ROWS), io.outputs[0].rows),
        threads: 64,
        threadgroup_memory: 0,
    }])
}
