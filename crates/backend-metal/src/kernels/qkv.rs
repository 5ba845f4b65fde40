//! `qkv`: the three products, then all that lies between them and attention.

use minfer_graph::op::qkv::Qkv;
use minfer_graph::op::rope::Pairs;
use minfer_plan::{Io, Unsupported};

use super::matmul::{self, Around};
use super::operands::{Paged, cache_kind, check_vector};
use super::rope;
use crate::arguments::QkvArguments;
use crate::dispatch::{Dispatch, Grid, Slot};
use crate::tune::How;

pub(super) fn lower(op: &Qkv, io: &Io<'_>, how: How) -> Result<Vec<Dispatch>, Unsupported> {
    let paged = Paged::of(io, op.state)?;
    let (out, shape) = (io.outputs[0], &io.tables.shape);
    for norm in op.norms.iter().flatten() {
        check_vector(io, norm.weight)?;
    }
    // k and v lie one after the other; each starts where vectors may.
    let bytes = out.rows.capacity(shape) * paged.kv_heads * paged.head_dim * 4;
    let second = bytes.next_multiple_of(256);
    let (k, v) = (Slot::Scratch(0..bytes), Slot::Scratch(second..second + bytes));
    let outputs = [Slot::Output(0), k.clone(), v.clone()];
    let around = Around { norm: op.input_norm.as_ref(), ..Around::default() };
    let mut dispatches = matmul::products(&op.members, &outputs, &around, io, how)?;
    let norm = |index: usize| op.norms.as_ref().map(|norms| &norms[index]);
    let weight = |index: usize| norm(index).map_or(Slot::Unused, |norm| Slot::Weight(norm.weight));
    let heads = out.cols / paged.head_dim;
    let arguments = QkvArguments {
        heads: heads as u32,
        kv_heads: paged.kv_heads as u32,
        head_dim: paged.head_dim as u32,
        pairs: op.rope.frequencies.len() as u32,
        interleaved: u32::from(op.rope.pairs == Pairs::Interleaved),
        has_norms: u32::from(op.norms.is_some()),
        key_kind: cache_kind(paged.key),
        value_kind: cache_kind(paged.value),
        key_page_bytes: paged.key_page_bytes,
        value_page_bytes: paged.value_page_bytes,
        magnitude: op.rope.magnitude,
        q_eps: norm(0).map_or(0.0, |norm| norm.eps),
        k_eps: norm(1).map_or(0.0, |norm| norm.eps),
    };
    let (positions, slots) = (io.inputs.len() - 2, io.inputs.len() - 1);
    dispatches.push(Dispatch {
        kernel: "qkv_finish".to_owned(),
        why: "norms, rope and the cache's stores at once, one simdgroup a head",
        buffers: vec![
            Slot::Output(0),
            k,
            v,
            Slot::Input(positions),
            Slot::Input(slots),
            Slot::Constant(rope::table(&op.rope)),
            weight(0),
            weight(1),
            Slot::Keys(op.state),
            Slot::Values(op.state),
        ],
        arguments: arguments.bytes(),
        grid: Grid::each_row(heads + 2 * paged.kv_heads, out.rows),
        threads: 32,
        threadgroup_memory: (4 * paged.head_dim).next_multiple_of(16) as u32,
    });
    Ok(dispatches)
}
