//! `attention`: a threadgroup for each query row and head, then the partial results put together.

use minfer_graph::Rows;
use minfer_graph::op::attention::Attention;
use minfer_plan::{Io, ROW_TILE, Unsupported};
use minfer_quant::KvType;

use super::{Paged, check_vector};
use crate::arguments::AttentionArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

/// Columns of V that a lane may have: each bounds the head sizes of a kernel at 32 times that.
pub(crate) const COLUMNS: [usize; 3] = [2, 4, 8];

pub(crate) fn name(key: KvType, value: KvType, columns: usize) -> String {
    format!("attention_{}_{}_{}", key.name(), value.name(), 32 * columns)
}

/// Bytes of the partial results: maximum, sum and accumulator of each slot and head.
pub(super) fn scratch(op: &Attention, io: &Io<'_>) -> usize {
    let cols = io.outputs[0].cols + 2 * op.heads;
    io.tables.shape.partials * cols * 4
}

pub(super) fn lower(op: &Attention, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let paged = Paged::of(io, op.state)?;
    let head_dim = paged.head_dim;
    let most = 32 * COLUMNS[COLUMNS.len() - 1];
    let columns = COLUMNS.into_iter().find(|columns| head_dim <= 32 * columns);
    let (Some(columns), true) = (columns, head_dim.is_multiple_of(8)) else {
        return Err(Unsupported::because(format!(
            "heads of {head_dim} columns: multiples of 8 up to {most} are there"
        )));
    };
    if let Some(sinks) = op.sinks {
        check_vector(io, sinks)?;
    }
    let shape = &io.tables.shape;
    let tile = ROW_TILE.min(io.inputs[0].rows.capacity(shape));
    let items = Rows::Fixed(shape.work);
    let grid = Grid { x: op.heads as u32, rows: items, per_group: 1, z: tile as u32 };
    let arguments = arguments(op, io, &paged).bytes();
    let sinks = op.sinks.map_or(Slot::Unused, Slot::Weight);
    let partials = if shape.partials > 0 { Slot::Scratch } else { Slot::Unused };
    let mut buffers: Vec<Slot> = (0..4).map(Slot::Input).collect();
    buffers.extend([Slot::Keys(op.state), Slot::Values(op.state), sinks.clone()]);
    buffers.extend([Slot::Output(0), partials.clone()]);
    let mut dispatches = vec![Dispatch {
        kernel: name(paged.key, paged.value, columns),
        why: "online softmax over pages, four simdgroups a query row and head",
        buffers,
        arguments: arguments.clone(),
        grid,
        threads: 128,
        threadgroup_memory: room(head_dim),
    }];
    if shape.partials > 0 {
        dispatches.push(Dispatch {
            kernel: "attention_combine".to_owned(),
            why: "partial results of a deep cache",
            buffers: vec![Slot::Input(3), sinks, partials, Slot::Output(0)],
            arguments,
            grid,
            threads: 32,
            threadgroup_memory: 0,
        });
    }
    Ok(dispatches)
}

/// Bytes of threadgroup memory: a query, then of each simdgroup the weights of a page, the
/// accumulator, and maximum and sum.
fn room(head_dim: usize) -> u32 {
    let floats = head_dim + 4 * (32 + head_dim + 2);
    (4 * floats).next_multiple_of(16) as u32
}

fn arguments(op: &Attention, io: &Io<'_>, paged: &Paged) -> AttentionArguments {
    AttentionArguments {
        heads: op.heads as u32,
        kv_heads: paged.kv_heads as u32,
        head_dim: paged.head_dim as u32,
        table_pages: io.tables.shape.pages as u32,
        key_page_bytes: paged.key_page_bytes,
        value_page_bytes: paged.value_page_bytes,
        window: paged.window.and_then(|window| u32::try_from(window).ok()).unwrap_or(u32::MAX),
        items: io.tables.shape.work as u32,
        has_cap: u32::from(op.soft_cap.is_some()),
        has_sinks: u32::from(op.sinks.is_some()),
        scale: op.scale,
        soft_cap: op.soft_cap.unwrap_or(1.0),
    }
}
