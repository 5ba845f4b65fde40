//! `kv_store`: each token's K and V rows to page `slot / 32`, position `slot % 32`, head by head,
//! in the cache's types.

use minfer_graph::{PAGE_POSITIONS, StateId};

use super::Env;
use crate::real::Real;
use crate::tensor::Tensor;

/// `[k, v, slots]` into the cache.
pub(crate) fn run<T: Real>(state: StateId, [k, v, slots]: [&Tensor<T>; 3], env: &mut Env<'_>) {
    let cache = env.caches.cache_mut(state);
    let head_dim = k.cols() / cache.kv_heads;
    let rows = k.real_rows().zip(v.real_rows());
    for ((k, v), &slot) in rows.zip(slots.indices()) {
        let (page, position) = (slot as usize / PAGE_POSITIONS, slot as usize % PAGE_POSITIONS);
        let heads = k.chunks_exact(head_dim).zip(v.chunks_exact(head_dim));
        for (head, (k, v)) in heads.enumerate() {
            let f32s = |row: &[T]| row.iter().map(|x| x.narrow()).collect::<Vec<f32>>();
            cache.keys.store(page, head, position, &f32s(k));
            cache.values.store(page, head, position, &f32s(v));
        }
    }
}
