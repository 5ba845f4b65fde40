//! `kv_store`: K and V, a launch each, since their types are chosen apart.

use minfer_graph::op::kv_store::KvStore;
use minfer_plan::{Io, Unsupported};
use minfer_quant::KvType;

use super::operands::{Paged, cache_kind};
use crate::arguments::StoreArguments;
use crate::dispatch::{Dispatch, Grid, Slot};

pub(super) fn lower(op: &KvStore, io: &Io<'_>) -> Result<Vec<Dispatch>, Unsupported> {
    let paged = Paged::of(io, op.state)?;
    let store = |input: usize, kv: KvType, pages: Slot, page_bytes: u32| Dispatch {
        kernel: "kv_store".to_owned(),
        why: "a simdgroup stores 32 columns",
        buffers: vec![Slot::Input(input), Slot::Input(2), pages],
        arguments: StoreArguments {
            kind: cache_kind(kv),
            kv_heads: paged.kv_heads as u32,
            head_dim: paged.head_dim as u32,
            page_bytes,
        }
        .bytes(),
        grid: Grid::each_row((paged.kv_heads * paged.head_dim).div_ceil(256), io.inputs[0].rows),
        threads: 256,
        threadgroup_memory: 0,
    };
    Ok(vec![
        store(0, paged.key, Slot::Keys(op.state), paged.key_page_bytes),
        store(1, paged.value, Slot::Values(op.state), paged.value_page_bytes),
    ])
}
