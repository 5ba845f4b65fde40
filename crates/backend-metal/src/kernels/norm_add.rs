//! `norm_add`: a norm added to what came before it.

use minfer_graph::op::norm_add::NormAdd;
use minfer_plan::{Io, Unsupported};

use super::rms_norm;
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &NormAdd, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let cols = io.inputs[0].cols;
    let buffers = vec![Slot::Input(0), Slot::Input(1), Slot::Weight(op.weight), Slot::Output(0)];
    rms_norm::launch("norm_add", op.weight, op.eps, [1, cols], buffers, io, how)
}
