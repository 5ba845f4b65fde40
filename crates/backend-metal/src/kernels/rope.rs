//! `rope`: rotary position embedding.

use std::f64::consts::TAU;

use minfer_graph::op::rope::{Pairs, Rope};
use minfer_plan::{Io, Unsupported};

use crate::arguments::RopeArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

pub(super) fn lower(op: &Rope, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let out = io.outputs[0];
    let (heads, pairs) = (out.cols / op.head_dim, op.frequencies.len());
    let arguments = RopeArguments {
        heads: heads as u32,
        head_dim: op.head_dim as u32,
        pairs: pairs as u32,
        interleaved: u32::from(op.pairs == Pairs::Interleaved),
        magnitude: op.magnitude,
    };
    Ok(vec![Dispatch {
        kernel: "rope".to_owned(),
        why: "one thread a pair",
        buffers: vec![Slot::Input(0), Slot::Input(1), Slot::Constant(table(op)), Slot::Output(0)],
        arguments: arguments.bytes(),
        grid: Grid::each_row((heads * (op.head_dim - pairs)).div_ceil(256), out.rows),
        threads: 256,
        threadgroup_memory: 0,
    }])
}

/// Turns per position of each pair.
pub(super) fn table(op: &Rope) -> Vec<u8> {
    op.frequencies.iter().flat_map(|f| turns(*f).to_le_bytes()).collect()
}

/// Turns per position, in units of 2^-64; whole turns do not matter.
fn turns(frequency: f64) -> u64 {
    let turns = frequency / TAU;
    ((turns - turns.floor()) * 2.0_f64.powi(64)) as u64
}
