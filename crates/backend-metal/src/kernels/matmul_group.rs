//! `matmul_group`: several matrices applied to the same activations, by `matmul`'s kernels.

use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_plan::{Io, Unsupported};

use super::matmul::{self, Around};
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &MatmulGroup, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let outputs: Vec<Slot> = (0..io.outputs.len()).map(Slot::Output).collect();
    matmul::products(&op.members, &outputs, &Around::default(), io, how)
}
