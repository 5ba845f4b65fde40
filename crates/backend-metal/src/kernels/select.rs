//! `softmax`, `argmax`, `top_k` and `route`: one threadgroup a row.

use minfer_graph::op::route::Route;
use minfer_graph::op::top_k::TopK;
use minfer_plan::Io;

use crate::arguments::SelectArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

pub(super) fn softmax(io: &Io<'_>) -> Dispatch {
    launch("softmax", io, 0, false)
}

pub(super) fn argmax(io: &Io<'_>) -> Dispatch {
    launch("argmax", io, 1, false)
}

pub(super) fn top_k(op: &TopK, io: &Io<'_>) -> Dispatch {
    launch("top_k", io, op.k, false)
}

pub(super) fn route(op: &Route, io: &Io<'_>) -> Dispatch {
    launch("route", io, op.used, op.normalize)
}

fn launch(kernel: &str, io: &Io<'_>, k: usize, normalize: bool) -> Dispatch {
    let x = io.inputs[0];
    let outputs = (0..io.outputs.len()).map(Slot::Output);
    let arguments =
        SelectArguments { cols: x.cols as u32, k: k as u32, normalize: u32::from(normalize) };
    Dispatch {
        kernel: kernel.to_owned(),
        why: "one threadgroup of eight simdgroups a row",
        buffers: [Slot::Input(0)].into_iter().chain(outputs).collect(),
        arguments: arguments.bytes(),
        grid: Grid::each_row(1, x.rows),
        threads: 256,
        threadgroup_memory: 32 * 4,
    }
}
