//! `norm_matmul`: the norm's factor is applied to the sums, by `matmul`'s kernel of few rows.

use minfer_graph::op::norm_matmul::NormMatmul;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_plan::{Io, Unsupported};

use super::matmul::{self, Around};
use crate::dispatch::{Dispatch, Slot};
use crate::tune::How;

pub(super) fn lower(op: &NormMatmul, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let norm = RmsNorm { weight: op.weight, eps: op.eps };
    let around = Around { norm: Some(&norm), ..Around::default() };
    let outputs: Vec<Slot> = (0..io.outputs.len()).map(Slot::Output).collect();
    matmul::products(&op.members, &outputs, &around, io, how)
}
