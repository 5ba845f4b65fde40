//! `qk_norm`: the norm of each head, a launch of `rms_norm`'s kernel.

use minfer_graph::op::qk_norm::QkNorm;
use minfer_plan::{Io, Unsupported};

use super::rms_norm;
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &QkNorm, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let heads = io.inputs[0].cols / op.head_dim;
    let buffers = vec![Slot::Input(0), Slot::Weight(op.weight), Slot::Output(0)];
    rms_norm::launch("rms_norm", op.weight, op.eps, [heads, op.head_dim], buffers, io, how)
}
