//! KV pools: pages laid out `[page][kv_head][position][head_dim]`, K and V apart.

use minfer_graph::{StateDecl, StateId};
use minfer_plan::{DeviceError, PlacedState};

use crate::sys::{Buffer, Gpu};

/// The state of one engine, by id.
#[derive(Default)]
pub(super) struct States(Vec<Option<Pool>>);

/// The cache of one layer.
pub(super) struct Pool {
    group: usize,
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

impl States {
    /// Makes zeroed pools.
    pub(super) fn new(
        gpu: &Gpu,
        device: &str,
        placed: &[PlacedState],
    ) -> Result<States, DeviceError> {
        let last = placed.iter().map(|state| state.id.0 as usize + 1).max().unwrap_or(0);
        let mut states = States::default();
        states.0.resize_with(last, || None);
        for PlacedState { id, decl, pages } in placed {
            let StateDecl::Paged { group, .. } = decl else { continue };
            let make = |page_bytes: usize| {
                let bytes = page_bytes.checked_mul(*pages);
                let buffer = bytes.and_then(|bytes| gpu.buffer(bytes));
                let made = |buffer| Pages { buffer, page_bytes, count: *pages };
                buffer.map(made).ok_or_else(|| DeviceError::OutOfMemory {
                    device: device.to_owned(),
                    what: format!("KV pool of layer {} ({pages} pages)", decl.layer()),
                    requested: (page_bytes as u64).saturating_mul(*pages as u64),
                })
            };
            let key = make(decl.key_page_bytes())?;
            let value = make(decl.value_page_bytes())?;
            states.0[id.0 as usize] = Some(Pool { group: *group, key, value });
        }
        Ok(states)
    }

    /// The pool of a state, where it was made.
    pub(super) fn pool(&self, id: StateId) -> Option<&Pool> {
        self.0.get(id.0 as usize)?.as_ref()
    }

    /// The copies of a page in every pool of a group; `None` where one of the pages does not exist.
    pub(super) fn page_copies(&self, group: usize, from: u32, to: u32) -> Option<Vec<Copy<'_>>> {
        let pools = self.0.iter().flatten().filter(|pool| pool.group == group);
        pools
            .flat_map(|pool| [&pool.key, &pool.value])
            .map(|pages| {
                let (from, to) = (from as usize, to as usize);
                let place = |page: usize| (&pages.buffer, page * pages.page_bytes);
                (from < pages.count && to < pages.count)
                    .then(|| (place(from), place(to), pages.page_bytes))
            })
            .collect()
    }
}
