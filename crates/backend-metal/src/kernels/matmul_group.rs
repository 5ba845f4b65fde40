//! `matmul_group`: several matrices applied to the same activations, by `matmul`'s kernels.

use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_plan::{Io, Unsupported};

use super::matmul::{self, Around};
use crate::caps::Staging;
use crate::dispatch::{Dispatch, Slot};

pub(super) fn lower(
    op: &MatmulGroup,
    io: &Io<'_>,
    staging: Staging,
) -> Result<Vec<Dispatch>, Unsupported> {
    let outputs: Vec<Slot> = (0..io.outputs.len()).map(Slot::Output).collect();
    matmul::products(&op.members, &outputs, &Around::default(), io, staging)
}
