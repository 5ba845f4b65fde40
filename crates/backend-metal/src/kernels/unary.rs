//! `unary`: a function of each element.

use minfer_graph::op::unary::Unary;
use minfer_plan::{Io, Unsupported};

use super::launch::{apply, code};
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(op: &Unary, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![apply("unary", code(op.function), vec![Slot::Input(0), Slot::Output(0)], io)])
}
