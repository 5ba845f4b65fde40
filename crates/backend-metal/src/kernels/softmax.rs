//! `softmax`: exponentials that sum to one.

use minfer_plan::{Io, Unsupported};

use super::launch::each_row;
use crate::dispatch::Dispatch;

pub(super) fn lower(io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    Ok(vec![each_row("softmax", 0, false, io)])
}
