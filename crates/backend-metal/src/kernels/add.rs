//! `add`: the sum of two operands.

use minfer_plan::{Io, Unsupported};

use super::launch::each_element;
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let buffers = vec![Slot::Input(0), Slot::Input(1), Slot::Output(0)];
    Ok(vec![each_element("add", buffers, io)])
}
