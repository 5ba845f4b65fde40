//! `matmul` and `matmul_group`: by how many rows a step of this bucket can bring.
//!
//! | rows | kernel | why |
//! |---|---|---|
//! | 1 to 8 | `matmul_few` | bound by memory: each weight is read once, and nothing is staged |
//! | more | `matmul_many` | bound by arithmetic: simdgroup matrices over staged tiles |

use minfer_graph::op::matmul::Member;
use minfer_plan::{Io, Unsupported};
use minfer_quant::Quant;

use super::{check_matrix, check_vector, row_bytes};
use crate::arguments::MatmulArguments;
use crate::caps::Staging;
use crate::dispatch::{Dispatch, Grid, Slot};

/// A shape of the few-row kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Few {
    /// Rows of activations at most.
    pub(crate) rows: usize,
    /// Weight rows of a simdgroup: fewer where more sums must stay in registers.
    pub(crate) weight_rows: usize,
}

/// The shapes, each for what the one before it has no room for.
pub(crate) const FEW: [Few; 4] = [
    Few { rows: 1, weight_rows: 4 },
    Few { rows: 2, weight_rows: 4 },
    Few { rows: 4, weight_rows: 2 },
    Few { rows: 8, weight_rows: 2 },
];

/// Simdgroups in a threadgroup of the few-row kernel.
const FEW_SIMDGROUPS: usize = 2;

/// Rows of activations and of the weight in a tile of the many-row kernel, and its step.
const TILE: [usize; 3] = [32, 64, 32];

pub(crate) fn few_name(quant: Quant, few: Few) -> String {
    format!("matmul_few_{}_{}", quant.name(), few.rows)
}

pub(crate) fn many_name(quant: Quant, half: bool) -> String {
    format!("matmul_many_{}_{}", quant.name(), if half { "half" } else { "float" })
}

/// Whether weights of a format may be staged as f16: those of f32 would lose bits, and those of
/// bf16 range.
pub(crate) fn may_round(quant: Quant) -> bool {
    quant != Quant::F32 && quant != Quant::BF16
}

/// One launch a member.
pub(super) fn lower(
    members: &[Member],
    io: &Io<'_>,
    staging: Staging,
) -> Result<Vec<Dispatch>, Unsupported> {
    members.iter().enumerate().map(|(output, m)| member(m, output, io, staging)).collect()
}

fn member(
    member: &Member,
    output: usize,
    io: &Io<'_>,
    staging: Staging,
) -> Result<Dispatch, Unsupported> {
    let x = io.inputs[member.operand];
    check_matrix(io, member.weight, x)?;
    if let Some(bias) = member.bias {
        check_vector(io, bias)?;
    }
    let weight = io.tables.weight(member.weight);
    let arguments = MatmulArguments {
        cols: weight.cols as u32,
        outputs: weight.rows as u32,
        row_bytes: row_bytes(io, member.weight)?,
        has_bias: u32::from(member.bias.is_some()),
    };
    let buffers = vec![
        Slot::Input(member.operand),
        Slot::Weight(member.weight),
        member.bias.map_or(Slot::Unused, Slot::Weight),
        Slot::Output(output),
    ];
    let arguments = arguments.bytes();
    let rows = x.rows.capacity(&io.tables.shape);
    if let Some(few) = FEW.into_iter().find(|few| rows <= few.rows) {
        let x_groups = weight.rows.div_ceil(few.weight_rows * FEW_SIMDGROUPS);
        return Ok(Dispatch {
            kernel: few_name(weight.quant, few),
            why: "few rows: each weight is read once, straight into registers",
            buffers,
            arguments,
            grid: Grid { x: x_groups as u32, rows: x.rows, per_group: few.rows as u32, z: 1 },
            threads: 32 * FEW_SIMDGROUPS as u32,
            threadgroup_memory: 0,
        });
    }
    let half =
        staging == Staging::Half && weight.quant != Quant::F32 && weight.quant != Quant::BF16;
    let [x_rows, w_rows, step] = TILE;
    let staged = (x_rows + w_rows) * step * if half { 2 } else { 4 };
    let results = x_rows * w_rows * 4;
    Ok(Dispatch {
        kernel: many_name(weight.quant, half),
        why: "many rows: tiles of 32 by 64 on simdgroup matrices",
        buffers,
        arguments,
        grid: Grid {
            x: weight.rows.div_ceil(w_rows) as u32,
            rows: x.rows,
            per_group: x_rows as u32,
            z: 1,
        },
        threads: 128,
        threadgroup_memory: staged.max(results) as u32,
    })
}
