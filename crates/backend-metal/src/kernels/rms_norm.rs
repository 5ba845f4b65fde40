//! `rms_norm`: one simdgroup for short rows, several for long ones.

use minfer_graph::WeightId;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_plan::{Io, Unsupported};

use super::operands::check_vector;
use crate::arguments::NormArguments;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::tune::How;

pub(super) fn lower(op: &RmsNorm, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let cols = io.inputs[0].cols;
    let buffers = vec![Slot::Input(0), Slot::Weight(op.weight), Slot::Output(0)];
    launch("rms_norm", op.weight, op.eps, [1, cols], buffers, io, how)
}

/// `parts` norms a row, of `cols` columns each.
pub(super) fn launch(
    kernel: &str,
    weight: WeightId,
    eps: f32,
    [parts, cols]: [usize; 2],
    buffers: Vec<Slot>,
    io: &Io<'_>,
    how: How,
) -> Result<Vec<Dispatch>, Unsupported> {
    check_vector(io, weight)?;
    // One simdgroup need not wait for others.
    let short = cols <= how.tune.rms_norm_short_cols as usize;
    Ok(vec![Dispatch {
        kernel: kernel.to_owned(),
        why: if short {
            "short rows: one simdgroup each"
        } else {
            "long rows: several simdgroups each"
        },
        buffers,
        arguments: NormArguments { cols: cols as u32, eps }.bytes(),
        grid: Grid::each_row(parts, io.inputs[0].rows),
        threads: 32 * if short { 1 } else { how.tune.rms_norm_simdgroups },
        threadgroup_memory: 32 * 4,
    }])
}
