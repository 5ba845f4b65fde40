//! `top_k`: the largest elements of each row.
//!
//! | row | kernels | why |
//! |---|---|---|
//! | up to 8192 columns, or more than 64 elements | `top_k` | one threadgroup looks k times |
//! | longer | `top_k_runs`, `top_k_merge` | a vocabulary is read once, by many threadgroups |

use minfer_graph::op::top_k::TopK;
use minfer_plan::{Io, Unsupported};

use super::launch::each_row;
use crate::arguments::MergeArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

/// Columns of a run.
const RUN: usize = 4096;

/// Columns from which a row is cut into runs.
const LONG: usize = 2 * RUN + 1;

/// Elements up to which that pays: each run gives so many.
const FEW: usize = 64;

pub(super) fn lower(op: &TopK, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let values = Slot::Output(1);
    Ok(in_runs(op.k, values, io).unwrap_or_else(|| vec![each_row("top_k", op.k, false, io)]))
}

/// Both launches of a long row: columns into output 0, elements into `values`.
pub(super) fn in_runs(k: usize, values: Slot, io: &Io<'_>) -> Option<Vec<Dispatch>> {
    let x = io.inputs[0];
    if x.cols < LONG || k > FEW {
        return None;
    }
    let runs = x.cols.div_ceil(RUN);
    let bytes = x.rows.capacity(&io.tables.shape) * runs * k * 4;
    let second = bytes.next_multiple_of(256);
    let (columns, elements) = (Slot::Scratch(0..bytes), Slot::Scratch(second..second + bytes));
    let first = each_row("top_k_runs", k, false, io);
    let merge = MergeArguments {
        candidates: (runs * k) as u32,
        k: k as u32,
        has_values: u32::from(values != Slot::Unused),
    };
    Some(vec![
        Dispatch {
            why: "long rows: the best of each run, so that a row is read once",
            buffers: vec![Slot::Input(0), columns.clone(), elements.clone()],
            grid: Grid::each_row(runs, x.rows),
            ..first.clone()
        },
        Dispatch {
            kernel: "top_k_merge".to_owned(),
            why: "the best of all runs",
            buffers: vec![columns, elements, Slot::Output(0), values],
            arguments: merge.bytes(),
            ..first
        },
    ])
}
