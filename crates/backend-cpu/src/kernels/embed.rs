//! `embed`: decoded rows of the embedding matrix.

use minfer_graph::op::embed::Embed;
use minfer_plan::{Io, Launch, Unsupported};

use super::quant;
use crate::call::Call;
use crate::sys::Fault;

pub(super) fn lower(op: &Embed, io: &Io<'_>) -> Result<Launch, Unsupported> {
    let quant = io.tables.weight(op.weight).quant;
    Ok(Launch::simple(format!("embed.{}", quant.name()), "row by row"))
}

pub(super) fn run(op: &Embed, call: &mut Call<'_>) -> Result<(), Fault> {
    let (ids, out) = (call.integers(0)?, call.take::<f32>(0));
    let (simd, matrix) = (call.simd, call.weights.matrix(op.weight, 0));
    call.each_row(out, matrix.cols, |row, to| {
        match usize::try_from(ids[row]) {
            Ok(id) if id < matrix.rows => {
                quant::decode(simd, matrix.quant, matrix.row(id), to);
            }
            // The step before had a NaN among its logits: the fault goes on, visibly.
            Ok(_) | Err(_) => to.fill(f32::NAN),
        }
    })
}
