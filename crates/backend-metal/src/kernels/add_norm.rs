//! `add_norm`: a sum and its norm.

use minfer_graph::op::add_norm::AddNorm;
use minfer_plan::{Io, Unsupported};

use super::rms_norm;
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &AddNorm, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let cols = io.inputs[0].cols;
    let buffers = vec![
        Slot::Input(0),
        Slot::Input(1),
        Slot::Weight(op.weight),
        Slot::Output(0),
        Slot::Output(1),
    ];
    rms_norm::launch("add_norm", op.weight, op.eps, [1, cols], buffers, io, how)
}
