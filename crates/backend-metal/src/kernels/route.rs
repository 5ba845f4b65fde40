//! `route`: the experts of each token and their weights.

use minfer_graph::op::route::Route;
use minfer_plan::{Io, Unsupported};

use super::launch::each_row;
use crate::dispatch::Dispatch;

pub(super) fn lower(op: &Route, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![each_row("route", op.used, op.normalize, io)])
}
