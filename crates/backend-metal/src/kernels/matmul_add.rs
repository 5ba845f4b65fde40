//! `matmul_add`: a product added to a residual, by `matmul`'s kernels.

use minfer_graph::op::matmul::Member;
use minfer_graph::op::matmul_add::MatmulAdd;
use minfer_plan::{Io, Unsupported};

use super::matmul::{self, Around};
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &MatmulAdd, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let around = Around { residual: Some(Slot::Input(1)), ..Around::default() };
    let members = [Member::new(op.weight, op.bias)];
    matmul::products(&members, &[Slot::Output(0)], &around, io, how)
}
