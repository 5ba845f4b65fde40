//! KV pools: the memory that outlives a step.
//!
//! A pool holds pages laid out `[page][kv_head][position][head_dim]`, K and V apart; a q8_0 page is
//! its int8 values and then its f16 scales. Pages that were never written take no memory.

use std::ops::Range;

use minfer_graph::{PAGE_POSITIONS, StateDecl};
use minfer_plan::{DeviceError, PlacedState, Pools};
use minfer_quant::KvType;

use crate::simd::{Simd, Tile, fetch, narrow_bf16, narrow_f16, widen_bf16, widen_f16, widen_q8_0};
use crate::sys::{Buffer, Fault};

/// Bytes of a page's rows that are asked for ahead of time.
const FETCHED: usize = 512;

/// The state of one engine.
pub(crate) type States = Pools<Pool>;

/// The cache of one layer.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) group: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_dim: usize,
    pub(crate) window: Option<usize>,
    pub(crate) key: Pages,
    pub(crate) value: Pages,
}

/// K or V of one layer.
#[derive(Debug)]
pub(crate) struct Pages {
    kind: KvType,
    kv_heads: usize,
    head_dim: usize,
    page_bytes: usize,
    buffer: Buffer,
}

/// A split is loaded only with its state, so that this is a fault of this crate.
pub(crate) fn no_pool() -> Fault {
    Fault::Failed("a layer without its KV pool".to_owned())
}

/// Makes zeroed pools.
pub(crate) fn pools(device: &str, placed: &[PlacedState]) -> Result<States, DeviceError> {
    Pools::new(device, placed, pool)
}

/// A pool; fails with the bytes that could not be had.
fn pool(decl: &StateDecl, pages: usize) -> Result<Pool, u64> {
    let StateDecl::Paged { group, kv_heads, head_dim, key, value, window, .. } = *decl else {
        return Err(0);
    };
    let make = |kind: KvType, page_bytes: usize| {
        let requested = (page_bytes as u64).saturating_mul(pages as u64);
        let buffer = usize::try_from(requested).ok().and_then(Buffer::zeroed);
        let buffer = buffer.ok_or(requested)?;
        Ok::<_, u64>(Pages { kind, kv_heads, head_dim, page_bytes, buffer })
    };
    let key = make(key, decl.key_page_bytes())?;
    let value = make(value, decl.value_page_bytes())?;
    Ok(Pool { group, kv_heads, head_dim, window, key, value })
}

impl Pool {
    /// Copies a page; false where one of the pages does not exist.
    pub(crate) fn copy(&mut self, from: u32, to: u32) -> bool {
        let (from, to) = (from as usize, to as usize);
        self.key.copy(from, to) && self.value.copy(from, to)
    }
}

impl Pages {
    /// Pages in the pool.
    pub(crate) fn len(&self) -> usize {
        self.buffer.bytes().len().checked_div(self.page_bytes).unwrap_or(0)
    }

    fn copy(&mut self, from: usize, to: usize) -> bool {
        let exist = from < self.len() && to < self.len();
        if exist {
            let from = from * self.page_bytes..(from + 1) * self.page_bytes;
            self.buffer.bytes_mut().copy_within(from, to * self.page_bytes);
        }
        exist
    }

    /// Bytes of the values of rows `rows` of a page, counted over heads and positions, and of their
    /// scales.
    fn planes(&self, page: usize, rows: Range<usize>) -> [Range<usize>; 2] {
        let width = match self.kind {
            KvType::F32 => 4,
            KvType::F16 | KvType::BF16 => 2,
            KvType::Q8_0 => 1,
        };
        let base = page * self.page_bytes;
        let values = self.head_dim * width;
        let scales = match self.kind {
            KvType::F32 | KvType::F16 | KvType::BF16 => 0,
            KvType::Q8_0 => self.head_dim / 32 * 2,
        };
        let scales_at = base + values * self.kv_heads * PAGE_POSITIONS;
        [
            base + rows.start * values..base + rows.end * values,
            scales_at + rows.start * scales..scales_at + rows.end * scales,
        ]
    }

    /// Stores one head's vector at a position of a page.
    pub(crate) fn store(
        &mut self,
        simd: Simd,
        page: usize,
        head: usize,
        position: usize,
        x: &[f32],
    ) {
        let row = head * PAGE_POSITIONS + position;
        let [values, scales] = self.planes(page, row..row + 1);
        let kind = self.kind;
        let bytes = self.buffer.bytes_mut();
        match kind {
            KvType::F32 => bytemuck::cast_slice_mut(&mut bytes[values]).copy_from_slice(x),
            KvType::F16 => narrow_f16(simd, x, bytemuck::cast_slice_mut(&mut bytes[values])),
            KvType::BF16 => narrow_bf16(x, bytemuck::cast_slice_mut(&mut bytes[values])),
            KvType::Q8_0 => {
                let (head, tail) = bytes.split_at_mut(scales.start);
                let scales = bytemuck::cast_slice_mut(&mut tail[..scales.len()]);
                quantize(x, bytemuck::cast_slice_mut(&mut head[values]), scales);
            }
        }
    }

    /// One head's rows of a page as they lie, where these are floats of 32 or 16 bits.
    pub(crate) fn tile(&self, page: usize, head: usize) -> Option<Tile<'_>> {
        let first = head * PAGE_POSITIONS;
        let [values, _] = self.planes(page, first..first + PAGE_POSITIONS);
        let values = &self.buffer.bytes()[values];
        match self.kind {
            KvType::F32 => Some(Tile::F32(bytemuck::cast_slice(values))),
            KvType::F16 => Some(Tile::F16(bytemuck::cast_slice(values))),
            KvType::BF16 => Some(Tile::BF16(bytemuck::cast_slice(values))),
            KvType::Q8_0 => None,
        }
    }

    /// Asks for the beginning of one head's rows of a page, if there is such a page, before they
    /// are needed: from there the processor foresees the rest.
    pub(crate) fn fetch(&self, page: usize, head: usize) {
        if page < self.len() {
            let first = head * PAGE_POSITIONS;
            let [values, _] = self.planes(page, first..first + PAGE_POSITIONS);
            let values = &self.buffer.bytes()[values];
            fetch(&values[..values.len().min(FETCHED)]);
        }
    }

    /// Widens positions of one head of a page to f32: rows of `stride` columns from `to` on, of
    /// which the first `head_dim` are written.
    pub(crate) fn load(
        &self,
        simd: Simd,
        page: usize,
        head: usize,
        positions: Range<usize>,
        stride: usize,
        to: &mut [f32],
    ) {
        let first = head * PAGE_POSITIONS;
        if stride == self.head_dim {
            let rows = first + positions.start..first + positions.end;
            return self.widen(simd, page, rows, &mut to[..positions.len() * stride]);
        }
        for (to, position) in to.chunks_mut(stride).zip(positions) {
            let row = first + position;
            self.widen(simd, page, row..row + 1, &mut to[..self.head_dim]);
        }
    }

    fn widen(&self, simd: Simd, page: usize, rows: Range<usize>, to: &mut [f32]) {
        let [values, scales] = self.planes(page, rows);
        let bytes = self.buffer.bytes();
        match self.kind {
            KvType::F32 => to.copy_from_slice(bytemuck::cast_slice(&bytes[values])),
            KvType::F16 => widen_f16(simd, bytemuck::cast_slice(&bytes[values]), to),
            KvType::BF16 => widen_bf16(simd, bytemuck::cast_slice(&bytes[values]), to),
            KvType::Q8_0 => {
                let scales = bytemuck::cast_slice(&bytes[scales]);
                widen_q8_0(simd, bytemuck::cast_slice(&bytes[values]), scales, to);
            }
        }
    }
}

/// Blocks of 32 with an f16 scale, from which the values are made.
fn quantize(x: &[f32], q: &mut [i8], scales: &mut [u16]) {
    let blocks = x.as_chunks::<32>().0.iter().zip(q.as_chunks_mut::<32>().0);
    for ((x, q), scale) in blocks.zip(scales) {
        if x.iter().any(|x| !x.is_finite()) {
            *scale = half::f16::NAN.to_bits();
            q.fill(0);
            continue;
        }
        let amax = x.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        let rounded = half::f16::from_f32(amax / 127.0);
        *scale = rounded.to_bits();
        let rounded = rounded.to_f32();
        let inverse = if rounded == 0.0 { 0.0 } else { 1.0 / rounded };
        *q = x.map(|x| (x * inverse).round_ties_even().clamp(-127.0, 127.0) as i8);
    }
}

#[cfg(test)]
mod tests;
