//! `add`, `mul`, `scale`, `unary`, `glu`, `get_rows` and `expert_combine`: one thread an element,
//! four elements a thread.

use minfer_graph::op::Activation;
use minfer_graph::op::scale::Scale;
use minfer_graph::op::unary::Unary;
use minfer_plan::Io;

use crate::arguments::{CombineArguments, ElementArguments};
use crate::dispatch::{Dispatch, Grid, Slot};

/// Columns of a threadgroup.
const RUN: usize = 1024;

pub(super) fn binary(kernel: &str, io: &Io<'_>) -> Dispatch {
    launch(kernel, vec![Slot::Input(0), Slot::Input(1), Slot::Output(0)], io, 0, 0.0)
}

/// `function(gate) · up`, where `up` need not be an operand.
pub(super) fn glu(function: Activation, [gate, up]: [Slot; 2], io: &Io<'_>) -> Dispatch {
    let (function, factor) = code(function);
    launch("glu", vec![gate, up, Slot::Output(0)], io, function, factor)
}

pub(super) fn scale(op: &Scale, io: &Io<'_>) -> Dispatch {
    launch("scale", vec![Slot::Input(0), Slot::Output(0)], io, 0, op.factor)
}

pub(super) fn unary(op: &Unary, io: &Io<'_>) -> Dispatch {
    let (function, factor) = code(op.function);
    launch("unary", vec![Slot::Input(0), Slot::Output(0)], io, function, factor)
}

pub(super) fn get_rows(io: &Io<'_>) -> Dispatch {
    let buffers = vec![Slot::Input(0), Slot::Input(1), Slot::Output(0)];
    launch("get_rows", buffers, io, 0, 0.0)
}

pub(super) fn expert_combine(io: &Io<'_>) -> Dispatch {
    let arguments =
        CombineArguments { cols: io.outputs[0].cols as u32, ranks: io.inputs[1].cols as u32 };
    let buffers = vec![Slot::Input(0), Slot::Input(1), Slot::Output(0)];
    Dispatch { arguments: arguments.bytes(), ..launch("expert_combine", buffers, io, 0, 0.0) }
}

/// How the kernels know a function, and its factor.
pub(super) fn code(function: Activation) -> (u32, f32) {
    match function {
        Activation::Silu => (0, 0.0),
        Activation::Gelu => (1, 0.0),
        Activation::SoftCap(cap) => (2, cap),
    }
}

fn launch(kernel: &str, buffers: Vec<Slot>, io: &Io<'_>, function: u32, factor: f32) -> Dispatch {
    let out = io.outputs[0];
    Dispatch {
        kernel: kernel.to_owned(),
        why: "element by element",
        buffers,
        arguments: ElementArguments { cols: out.cols as u32, function, factor }.bytes(),
        grid: Grid::each_row(out.cols.div_ceil(RUN), out.rows),
        threads: 256,
        threadgroup_memory: 0,
    }
}
