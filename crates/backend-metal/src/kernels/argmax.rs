//! `argmax`: the column of a row's largest element; of long rows by `top_k`'s kernels.

use minfer_plan::{Io, Unsupported};

use super::launch::each_row;
use super::top_k;
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let in_runs = top_k::in_runs(1, Slot::Unused, io);
    Ok(in_runs.unwrap_or_else(|| vec![each_row("argmax", 1, false, io)]))
}
