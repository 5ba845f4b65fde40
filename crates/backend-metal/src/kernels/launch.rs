//! Launches of a kind that several ops share: element by element, and row by row.

use minfer_graph::op::Activation;
use minfer_plan::Io;

use crate::arguments::{ElementArguments, SelectArguments};
use crate::dispatch::{Dispatch, Grid, Slot};

/// Columns of a threadgroup that goes element by element.
const RUN: usize = 1024;

/// One thread an element, four elements a thread.
pub(super) fn each_element(kernel: &str, buffers: Vec<Slot>, io: &Io<'_>) -> Dispatch {
    let out = io.outputs[0];
    let arguments = ElementArguments { cols: out.cols as u32, function: 0, factor: 0.0 };
    Dispatch {
        kernel: kernel.to_owned(),
        why: "element by element",
        buffers,
        arguments: arguments.bytes(),
        grid: Grid::each_row(out.cols.div_ceil(RUN), out.rows),
        threads: 256,
        threadgroup_memory: 0,
    }
}

/// The same of a kernel that applies a function.
pub(super) fn apply(
    kernel: &str,
    (function, factor): (u32, f32),
    buffers: Vec<Slot>,
    io: &Io<'_>,
) -> Dispatch {
    let cols = io.outputs[0].cols as u32;
    let arguments = ElementArguments { cols, function, factor }.bytes();
    Dispatch { arguments, ..each_element(kernel, buffers, io) }
}

/// How the kernels know a function, and its factor.
pub(super) fn code(function: Activation) -> (u32, f32) {
    match function {
        Activation::Silu => (0, 0.0),
        Activation::Gelu => (1, 0.0),
        Activation::SoftCap(cap) => (2, cap),
    }
}

/// Eight simdgroups for each row of operand 0.
pub(super) fn each_row(kernel: &str, k: usize, normalize: bool, io: &Io<'_>) -> Dispatch {
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
