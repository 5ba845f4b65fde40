//! `scale`: an operand times a factor.

use minfer_graph::op::scale::Scale;
use minfer_plan::{Io, Unsupported};

use super::launch::apply;
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(op: &Scale, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![apply("scale", (0, op.factor), vec![Slot::Input(0), Slot::Output(0)], io)])
}
