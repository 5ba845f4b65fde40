//! `expert_matmul`: each token's activations times the matrices of its experts.
//!
//! | tokens | kernels | why |
//! |---|---|---|
//! | 1 to 8 | `expert_matmul` | a mat-vec for each pair: experts are rarely shared |
//! | more | `expert_matmul_lists`, `expert_matmul_many` | pairs of one expert share its tiles |

use minfer_graph::op::expert_matmul::ExpertMatmul;
use minfer_plan::{Io, Unsupported};

use super::matmul::{TILE, few_shape, tile_memory};
use super::operands::{check_matrix, row_bytes};
use crate::arguments::{ExpertListArguments, ExpertMatmulArguments, ExpertTileArguments};
use crate::caps::Staging;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::instances::{many_name, may_round};
use crate::tune::How;

/// Weight rows of a threadgroup of the mat-vec: two simdgroups of four.
pub(super) const ROWS: usize = 8;

pub(super) fn lower(
    op: &ExpertMatmul,
    io: &Io<'_>,
    how: How,
) -> Result<Vec<Dispatch>, Unsupported> {
    let (x, experts) = (io.inputs[0], io.inputs[1]);
    check_matrix(io, op.weight, x)?;
    let weight = io.tables.weight(op.weight);
    let ranks = ranks(io);
    let row_bytes = row_bytes(io, op.weight)?;
    if few_shape(experts.rows, io, how).is_none() {
        return Ok(many(op, io, how, ranks, row_bytes));
    }
    let arguments = ExpertMatmulArguments {
        cols: weight.cols as u32,
        outputs: weight.rows as u32,
        row_bytes,
        ranks,
    };
    Ok(vec![Dispatch {
        kernel: format!("expert_matmul_{}", weight.quant.name()),
        why: "a mat-vec for each pair of token and expert",
        buffers: vec![Slot::Input(0), Slot::Input(1), Slot::Weight(op.weight), Slot::Output(0)],
        arguments: arguments.bytes(),
        grid: Grid::each_row(weight.rows.div_ceil(ROWS), io.outputs[0].rows),
        threads: 64,
        threadgroup_memory: 0,
    }])
}

/// Pairs that share a row of activations: these come once per token, or once per pair.
pub(super) fn ranks(io: &Io<'_>) -> u32 {
    let (x, experts) = (io.inputs[0], io.inputs[1]);
    if x.rows == experts.rows { experts.cols as u32 } else { 1 }
}

/// Pairs in the order of their experts, then tiles of them.
fn many(op: &ExpertMatmul, io: &Io<'_>, how: How, ranks: u32, row_bytes: u32) -> Vec<Dispatch> {
    let weight = io.tables.weight(op.weight);
    let pairs = io.outputs[0].rows;
    let [pair_rows, weight_rows, _step] = TILE;
    // Every expert may end in a tile that is not full.
    let capacity = pairs.capacity(&io.tables.shape);
    let tiles = capacity.div_ceil(pair_rows) + weight.experts.min(capacity);
    let lists = Slot::Scratch(0..4 * (1 + 3 * tiles + capacity));
    let sort = ExpertListArguments { experts: weight.experts as u32, tiles: tiles as u32 };
    let arguments = ExpertTileArguments {
        cols: weight.cols as u32,
        outputs: weight.rows as u32,
        row_bytes,
        ranks,
        tiles: tiles as u32,
    };
    let half = how.staging == Staging::Half && may_round(weight.quant);
    vec![
        Dispatch {
            kernel: "expert_matmul_lists".to_owned(),
            why: "the pairs in the order of their experts",
            buffers: vec![Slot::Input(1), lists.clone()],
            arguments: sort.bytes(),
            grid: Grid { x: 1, rows: pairs, per_group: u32::MAX, spare: 0, z: 1 },
            threads: 256,
            threadgroup_memory: (8 * weight.experts).next_multiple_of(16) as u32,
        },
        Dispatch {
            kernel: many_name("expert_matmul_many", weight.quant, half),
            why: "many rows: pairs of one expert share its tiles",
            buffers: vec![Slot::Input(0), lists, Slot::Weight(op.weight), Slot::Output(0)],
            arguments: arguments.bytes(),
            grid: Grid {
                x: weight.rows.div_ceil(weight_rows) as u32,
                rows: pairs,
                per_group: pair_rows as u32,
                spare: weight.experts.min(capacity) as u32,
                z: 1,
            },
            threads: 128,
            threadgroup_memory: tile_memory(half),
        },
    ]
}
