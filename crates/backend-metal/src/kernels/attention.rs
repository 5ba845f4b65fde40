//! `attention`: by how many rows a step of this bucket can bring.
//!
//! | rows | kernel | why |
//! |---|---|---|
//! | 1 to 8 | `attention` | a threadgroup for each query row and head: reading the cache is all |
//! | more | `attention_prefill` | 16 rows share each page that is read, on simdgroup matrices |
//!
//! Where threadgroup memory is too small for the second, the first takes all. Either leaves partial
//! results where a cache is so deep that its partitions are shared out;
//! `attention_combine` puts them together.

use minfer_graph::op::attention::Attention;
use minfer_graph::{PARTITION_POSITIONS, Rows, StepKind};
use minfer_plan::{Io, ROW_TILE, Unsupported};
use minfer_quant::KvType;

use super::operands::{Paged, cache_kind, check_vector};
use crate::arguments::AttentionArguments;
use crate::caps::Staging;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::instances::{COLUMNS, PARTS, attention_name, prefill_name};
use crate::target::MetalTarget;
use crate::tune::How;

// The kernels cut the cache where work lists do.
const _: () = assert!(PARTITION_POSITIONS == 512);

/// Bytes of the partial results: maximum, sum and accumulator of each slot and head.
pub(super) fn scratch(op: &Attention, io: &Io<'_>) -> usize {
    let cols = io.outputs[0].cols + 2 * op.heads;
    io.tables.shape.partials * cols * 4
}

pub(super) fn lower(
    op: &Attention,
    io: &Io<'_>,
    target: &MetalTarget,
) -> Result<Vec<Dispatch>, Unsupported> {
    let paged = Paged::of(io, op.state)?;
    let head_dim = paged.head_dim;
    if head_dim > 32 * COLUMNS[COLUMNS.len() - 1] || !head_dim.is_multiple_of(8) {
        return Err(Unsupported::because(format!(
            "heads of {head_dim} columns: multiples of 8 up to {} are there",
            32 * COLUMNS[COLUMNS.len() - 1]
        )));
    }
    if let Some(sinks) = op.sinks {
        check_vector(io, sinks)?;
    }
    let shape = &io.tables.shape;
    let rows = io.inputs[0].rows.capacity(shape);
    let items = Rows::Fixed(shape.work);
    let z = ROW_TILE.min(rows) as u32;
    let grid = Grid { x: op.heads as u32, rows: items, per_group: 1, spare: 0, z };
    let arguments = arguments(op, io, &paged).bytes();
    let sinks = op.sinks.map_or(Slot::Unused, Slot::Weight);
    let scratch = scratch(op, io);
    let partials = if scratch > 0 { Slot::Scratch(0..scratch) } else { Slot::Unused };
    let mut buffers: Vec<Slot> = (0..4).map(Slot::Input).collect();
    buffers.extend([Slot::Keys(op.state), Slot::Values(op.state), sinks.clone()]);
    buffers.extend([Slot::Output(0), partials.clone()]);
    let few = match shape.kind {
        StepKind::Mixed => rows <= target.how().tune.attention_few_rows as usize,
        StepKind::Prompt => false,
        StepKind::Decode => true,
    };
    let matrices = (!few).then(|| many_rows(&paged, target.how()));
    // A GPU may lack the memory for the matrix kernel; the other one takes any number of rows.
    let matrices = matrices.filter(|(.., bytes)| *bytes <= target.limits().threadgroup_memory);
    let many = matrices.is_some();
    let (kernel, why, threadgroup_memory) = matrices.unwrap_or_else(|| few_rows(&paged));
    let mut dispatches = vec![Dispatch {
        kernel,
        why,
        buffers,
        arguments: arguments.clone(),
        grid: if many { Grid { z: 1, ..grid } } else { grid },
        threads: 128,
        threadgroup_memory,
    }];
    if scratch > 0 {
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

/// Kernel, reason and bytes of threadgroup memory: a query, then of each simdgroup the weights of
/// a page, the accumulator, and maximum and sum.
fn few_rows(paged: &Paged) -> (String, &'static str, u32) {
    let head_dim = paged.head_dim;
    let columns = COLUMNS.into_iter().find(|columns| head_dim <= 32 * columns);
    let columns = columns.unwrap_or(COLUMNS[COLUMNS.len() - 1]);
    let floats = head_dim + 4 * (32 + head_dim + 2);
    let why = "few rows: four simdgroups a query row and head";
    (attention_name(paged.key, paged.value, columns), why, (4 * floats).next_multiple_of(16) as u32)
}

/// The same of the matrix kernel: queries, a part of a page, scores, two diagonal
/// matrices, a factor a row.
fn many_rows(paged: &Paged, how: How) -> (String, &'static str, u32) {
    let exact = [paged.key, paged.value].iter().any(|kv| match kv {
        KvType::F32 | KvType::BF16 => true,
        KvType::F16 | KvType::Q8_0 => false,
    });
    let half = how.staging == Staging::Half && !exact;
    let parts = PARTS.into_iter().find(|parts| paged.head_dim <= 64 * parts);
    let parts = parts.unwrap_or(PARTS[PARTS.len() - 1]);
    let floats = 16 * 64 * parts + 16 * 32 + 2 * 64 + 16 + 4;
    let bytes = 32 * 64 * if half { 2 } else { 4 } + 4 * floats;
    let why = "many rows: 16 of them share each page, on simdgroup matrices";
    (prefill_name(half, parts), why, bytes as u32)
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
        key_kind: cache_kind(paged.key),
        value_kind: cache_kind(paged.value),
        scale: op.scale,
        soft_cap: op.soft_cap.unwrap_or(1.0),
    }
}
