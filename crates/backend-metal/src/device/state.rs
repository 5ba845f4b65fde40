//! KV pools: pages laid out `[page][kv_head][position][head_dim]`, K and V apart.

use minfer_plan::{DeviceError, PlacedState, Pools};

use crate::sys::{Buffer, Gpu};

/// The state of one engine.
pub(super) type States = Pools<Pool>;

/// The cache of one layer.
pub(super) struct Pool {
    pub(super) key: Pages,
    pub(super) value: Pages,
}

/// K or V of one layer.
pub(super) struct Pages {
    pub(super) buffer: Buffer,
    page_bytes: usize,
    count: usize,
}

/// A copy from one place of a buffer to another.
pub(super) type Copy<'a> = ((&'a Buffer, usize), (&'a Buffer, usize), usize);

/// Makes zeroed pools.
pub(super) fn pools(
    gpu: &Gpu,
    device: &str,
    placed: &[PlacedState],
) -> Result<States, DeviceError> {
    Pools::new(device, placed, |decl, count| {
        let make = |page_bytes: usize| {
            let bytes = page_bytes.checked_mul(count);
            let buffer = bytes.and_then(|bytes| gpu.buffer(bytes));
            let requested = (page_bytes as u64).saturating_mul(count as u64);
            buffer.map(|buffer| Pages { buffer, page_bytes, count }).ok_or(requested)
        };
        Ok(Pool { key: make(decl.key_page_bytes())?, value: make(decl.value_page_bytes())? })
    })
}

/// The copies of a page in every pool of a group; `None` where one of the pages does not exist.
pub(super) fn page_copies(
    states: &States,
    group: usize,
    from: u32,
    to: u32,
) -> Option<Vec<Copy<'_>>> {
    let pools = states.of_group(group).flat_map(|pool| [&pool.key, &pool.value]);
    pools
        .map(|pages| {
            let (from, to) = (from as usize, to as usize);
            let place = |page: usize| (&pages.buffer, page * pages.page_bytes);
            (from < pages.count && to < pages.count)
                .then(|| (place(from), place(to), pages.page_bytes))
        })
        .collect()
}
