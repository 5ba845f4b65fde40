//! `embed`: decoded rows of the embedding matrix.

use minfer_graph::op::embed::Embed;
use minfer_plan::{Io, Unsupported};

use super::operands::{check_format, row_bytes};
use crate::arguments::EmbedArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

pub(super) fn lower(op: &Embed, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let weight = io.tables.weight(op.weight);
    check_format(weight.quant)?;
    let arguments = EmbedArguments {
        cols: weight.cols as u32,
        rows: weight.rows as u32,
        row_bytes: row_bytes(io, op.weight)?,
    };
    Ok(vec![Dispatch {
        kernel: format!("embed_{}", weight.quant.name()),
        why: "one threadgroup a token",
        buffers: vec![Slot::Input(0), Slot::Weight(op.weight), Slot::Output(0)],
        arguments: arguments.bytes(),
        grid: Grid::each_row(1, io.outputs[0].rows),
        threads: 64,
        threadgroup_memory: 0,
    }])
}
