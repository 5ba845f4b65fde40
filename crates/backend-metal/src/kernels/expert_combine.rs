//! `expert_combine`: the weighted sum of a token's experts.

use minfer_plan::{Io, Unsupported};

use super::launch::each_element;
use crate::arguments::CombineArguments;
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let arguments =
        CombineArguments { cols: io.outputs[0].cols as u32, ranks: io.inputs[1].cols as u32 };
    let buffers = vec![Slot::Input(0), Slot::Input(1), Slot::Output(0)];
    let launch = each_element("expert_combine", buffers, io);
    Ok(vec![Dispatch { arguments: arguments.bytes(), ..launch }])
}
