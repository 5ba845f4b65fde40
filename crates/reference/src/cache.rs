//! The paged K/V cache: pages `[page][kv_head][position][head_dim]`, K and V apart. A `q8_0` page
//! is the int8 values in that order and then the f16 scales, one per 32 values.

use std::collections::HashMap;

use half::{bf16, f16};
use minfer_graph::{PAGE_POSITIONS, StateDecl, StateId};
use minfer_plan::{DeviceError, PlacedState};
use minfer_quant::KvType;

use crate::memory::{Buffer, numbers};
use crate::op::quantize_rows::peak;

/// Values that share a scale.
const BLOCK: usize = 32;

/// Paged caches of one engine. No op reads per-sequence state, so none is kept.
#[derive(Debug)]
pub(crate) struct Caches {
    caches: HashMap<StateId, Cache>,
}

/// The cache of one layer.
#[derive(Debug)]
pub(crate) struct Cache {
    group: usize,
    pub(crate) kv_heads: usize,
    pub(crate) window: Option<usize>,
    pub(crate) keys: Pool,
    pub(crate) values: Pool,
}

/// Pages of K or of V.
#[derive(Debug)]
pub(crate) struct Pool {
    kind: KvType,
    kv_heads: usize,
    head_dim: usize,
    page_bytes: usize,
    pages: usize,
    memory: Buffer,
}

impl Caches {
    /// Zeroed pools.
    pub(crate) fn new(device: &str, states: &[PlacedState]) -> Result<Caches, DeviceError> {
        let mut caches = HashMap::new();
        for placed in states {
            let StateDecl::Paged { group, kv_heads, head_dim, key, value, window, .. } =
                placed.decl
            else {
                continue;
            };
            let pool = |kind| Pool::new(device, kind, kv_heads, head_dim, placed);
            let (keys, values) = (pool(key)?, pool(value)?);
            caches.insert(placed.id, Cache { group, kv_heads, window, keys, values });
        }
        Ok(Caches { caches })
    }

    /// Whether a state has been made with this declaration.
    pub(crate) fn has(&self, id: StateId) -> bool {
        self.caches.contains_key(&id)
    }

    /// The cache of a state that [`Caches::has`] has confirmed.
    pub(crate) fn cache(&self, id: StateId) -> &Cache {
        &self.caches[&id]
    }

    /// The same, to be written.
    pub(crate) fn cache_mut(&mut self, id: StateId) -> &mut Cache {
        self.caches.get_mut(&id).expect("loaded: the split's states exist")
    }

    /// Pages of each pool of a group; 0 where the group has none.
    pub(crate) fn pages(&self, group: usize) -> usize {
        let pools = self.caches.values().filter(|cache| cache.group == group);
        pools.map(|cache| cache.keys.pages).min().unwrap_or(0)
    }

    /// Copies a page in every cache of a group.
    pub(crate) fn copy_page(&mut self, group: usize, from: usize, to: usize) {
        for cache in self.caches.values_mut().filter(|cache| cache.group == group) {
            cache.keys.copy_page(from, to);
            cache.values.copy_page(from, to);
        }
    }

    /// Makes all memory zero again.
    pub(crate) fn clear(&mut self) {
        for cache in self.caches.values_mut() {
            cache.keys.memory.bytes_mut().fill(0);
            cache.values.memory.bytes_mut().fill(0);
        }
    }
}

impl Pool {
    fn new(
        device: &str,
        kind: KvType,
        kv_heads: usize,
        head_dim: usize,
        placed: &PlacedState,
    ) -> Result<Pool, DeviceError> {
        let what = format!("the cache of layer {}", placed.decl.layer());
        let pages = placed.pages;
        let sizes = kind.row_bytes(head_dim).ok().and_then(|row| {
            let page = row.checked_mul(kv_heads)?.checked_mul(PAGE_POSITIONS)?;
            Some((page, page.checked_mul(pages)?))
        });
        let Some((page_bytes, bytes)) = sizes else {
            let requested = u64::MAX;
            return Err(DeviceError::OutOfMemory { device: device.to_string(), what, requested });
        };
        let mut memory = Buffer::default();
        memory.grow(device, &what, bytes)?;
        Ok(Pool { kind, kv_heads, head_dim, page_bytes, pages, memory })
    }

    fn copy_page(&mut self, from: usize, to: usize) {
        let start = from * self.page_bytes;
        self.memory.bytes_mut().copy_within(start..start + self.page_bytes, to * self.page_bytes);
    }

    /// Index of the first element of a row in its page.
    fn element(&self, head: usize, position: usize) -> usize {
        debug_assert!(head < self.kv_heads && position < PAGE_POSITIONS);
        (head * PAGE_POSITIONS + position) * self.head_dim
    }

    /// Bytes of a page's values that come before its scales (`q8_0`).
    fn scales_at(&self) -> usize {
        self.kv_heads * PAGE_POSITIONS * self.head_dim
    }

    /// Stores one head's row at a position of a page.
    pub(crate) fn store(&mut self, page: usize, head: usize, position: usize, row: &[f32]) {
        let element = self.element(head, position);
        let scales_at = self.scales_at();
        let start = page * self.page_bytes;
        let page = &mut self.memory.bytes_mut()[start..start + self.page_bytes];
        match self.kind {
            KvType::F32 => put(page, element, row, |x| x.to_ne_bytes()),
            KvType::F16 => put(page, element, row, |x| f16::from_f32(x).to_ne_bytes()),
            KvType::BF16 => put(page, element, row, |x| bf16::from_f32(x).to_ne_bytes()),
            KvType::Q8_0 => {
                let (values, scales) = page.split_at_mut(scales_at);
                for (index, block) in row.chunks_exact(BLOCK).enumerate() {
                    let first = element + index * BLOCK;
                    let (scale, q) = quantize(block);
                    put(scales, first / BLOCK, &[scale], |scale| scale.to_ne_bytes());
                    put(values, first, &q, |q| q.to_ne_bytes());
                }
            }
        }
    }

    /// One head's row at a position of a page, widened to f32.
    pub(crate) fn load(&self, page: usize, head: usize, position: usize) -> Vec<f32> {
        let element = self.element(head, position);
        let start = page * self.page_bytes;
        let page = &self.memory.bytes()[start..start + self.page_bytes];
        let n = self.head_dim;
        match self.kind {
            KvType::F32 => get(page, element, n, f32::from_ne_bytes),
            KvType::F16 => get(page, element, n, |bytes| f16::from_ne_bytes(bytes).to_f32()),
            KvType::BF16 => get(page, element, n, |bytes| bf16::from_ne_bytes(bytes).to_f32()),
            KvType::Q8_0 => {
                let (values, scales) = page.split_at(self.scales_at());
                let q = get(values, element, n, |bytes| f32::from(i8::from_ne_bytes(bytes)));
                let scale_of = |bytes| f16::from_ne_bytes(bytes).to_f32();
                let scales = get(scales, element / BLOCK, n / BLOCK, scale_of);
                q.iter().enumerate().map(|(i, q)| q * scales[i / BLOCK]).collect()
            }
        }
    }
}

/// Scale and values of 32 elements.
fn quantize(block: &[f32]) -> (f16, Vec<i8>) {
    let Some(peak) = peak(block) else {
        return (f16::NAN, vec![0; block.len()]);
    };
    let scale = f16::from_f32(peak / 127.0);
    let inverse = if scale == f16::ZERO { 0.0 } else { 1.0 / scale.to_f32() };
    let q = |x: &f32| (x * inverse).round_ties_even().clamp(-127.0, 127.0) as i8;
    (scale, block.iter().map(q).collect())
}

/// Writes `values` from element `first` of `memory` on.
fn put<V: Copy, const N: usize>(
    memory: &mut [u8],
    first: usize,
    values: &[V],
    bytes: impl Fn(V) -> [u8; N],
) {
    let (elements, _rest) = memory.as_chunks_mut::<N>();
    for (element, &value) in elements[first..first + values.len()].iter_mut().zip(values) {
        *element = bytes(value);
    }
}

/// Reads `n` values from element `first` of `memory` on.
fn get<const N: usize>(
    memory: &[u8],
    first: usize,
    n: usize,
    value: impl Fn([u8; N]) -> f32,
) -> Vec<f32> {
    numbers(&memory[first * N..(first + n) * N], value)
}

#[cfg(test)]
mod tests;
