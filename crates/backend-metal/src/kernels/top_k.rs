//! `top_k`: the largest elements of each row.

use minfer_graph::op::top_k::TopK;
use minfer_plan::{Io, Unsupported};

use super::launch::each_row;
use crate::dispatch::Dispatch;

pub(super) fn lower(op: &TopK, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![each_row("top_k", op.k, false, io)])
}
