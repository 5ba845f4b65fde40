//! `rope`: rotary position embedding.

use minfer_graph::op::rope::Rope;

use crate::call::{Call, TASK_ELEMENTS};
use crate::simd;
use crate::sys::{Cuts, Fault, Grid};

pub(super) fn run(op: &Rope, call: &mut Call<'_>) -> Result<(), Fault> {
    let (simd, cols, positions) = (call.simd, call.output_type(0).cols, call.integers(1)?);
    let (out, source) = call.take_in_place()?;
    let turns = call.rotations.turns(op, positions);
    let band = (TASK_ELEMENTS / cols.max(1)).max(1);
    let grid = Grid::new(out, cols, Cuts::Every(band), cols)?;
    call.workers.each(grid, &|mut rectangle| {
        for row in rectangle.rows.clone() {
            let y = rectangle.row(row);
            source.fill(row, y);
            let (cos, sin) = turns.row(row);
            for head in y.chunks_mut(op.head_dim) {
                simd::rope(simd, head, cos, sin, op.pairs);
            }
        }
    })
}
