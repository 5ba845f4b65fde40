//! `kv_store`: writes the step's K and V rows to the cache, converted to its types.

use minfer_graph::op::kv_store::KvStore;
use minfer_graph::{PAGE_POSITIONS, StateDecl};
use minfer_plan::{Io, Launch, Unsupported};

use crate::call::Call;
use crate::state::no_pool;
use crate::sys::Fault;

pub(super) fn lower(op: &KvStore, io: &Io<'_>) -> Result<Launch, Unsupported> {
    match io.tables.state(op.state) {
        StateDecl::Paged { key, value, .. } => {
            let kernel = format!("kv_store.{}.{}", key.name(), value.name());
            Ok(Launch::simple(kernel, "head by head, on the calling thread"))
        }
        StateDecl::PerSequence { .. } => Err(Unsupported::because("a state without pages")),
    }
}

pub(super) fn run(op: &KvStore, call: &mut Call<'_>) -> Result<(), Fault> {
    let (k, v, slots) = (call.floats(0)?, call.floats(1)?, call.integers(2)?);
    let (simd, cols) = (call.simd, call.input_type(0).cols);
    let pool = call.states.get_mut(op.state).ok_or_else(no_pool)?;
    for (row, slot) in slots.iter().enumerate() {
        let slot = *slot as usize;
        let (page, position) = (slot / PAGE_POSITIONS, slot % PAGE_POSITIONS);
        for (pages, x) in [(&mut pool.key, k), (&mut pool.value, v)] {
            debug_assert!(page < pages.len(), "slot {slot} of {} pages", pages.len());
            let x = &x[row * cols..][..cols];
            for (head, x) in x.chunks(pool.head_dim).enumerate() {
                pages.store(simd, page, head, position, x);
            }
        }
    }
    Ok(())
}
