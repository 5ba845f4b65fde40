//! `glu`: the gated product.

use minfer_graph::op::Activation;
use minfer_graph::op::glu::Glu;
use minfer_plan::{Io, Unsupported};

use super::launch::{apply, code};
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(op: &Glu, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![product(op.function, [Slot::Input(0), Slot::Input(1)], io)])
}

/// `function(gate) · up`, where neither need be an operand.
pub(super) fn product(function: Activation, [gate, up]: [Slot; 2], io: &Io<'_>) -> Dispatch {
    apply("glu", code(function), vec![gate, up, Slot::Output(0)], io)
}
