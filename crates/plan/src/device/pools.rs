//! The KV pools of an engine on a device: one for each layer that it has.

use minfer_graph::{StateDecl, StateId};

use super::PlacedState;
use crate::error::DeviceError;

/// Pools by state; `P` is a device's own.
#[derive(Debug)]
pub struct Pools<P>(Vec<Option<(usize, P)>>);

impl<P> Default for Pools<P> {
    fn default() -> Pools<P> {
        Pools(Vec::new())
    }
}

impl<P> Pools<P> {
    /// Makes the pool of every paged state. `make` fails with the bytes that could not be had.
    pub fn new(
        device: &str,
        placed: &[PlacedState],
        mut make: impl FnMut(&StateDecl, usize) -> Result<P, u64>,
    ) -> Result<Pools<P>, DeviceError> {
        let last = placed.iter().map(|state| state.id.0 as usize + 1).max().unwrap_or(0);
        let mut pools = Pools::default();
        pools.0.resize_with(last, || None);
        for PlacedState { id, decl, pages } in placed {
            let StateDecl::Paged { group, .. } = decl else { continue };
            let pool = make(decl, *pages).map_err(|requested| DeviceError::OutOfMemory {
                device: device.to_owned(),
                what: format!("KV pool of layer {} ({pages} pages)", decl.layer()),
                requested,
            })?;
            pools.0[id.0 as usize] = Some((*group, pool));
        }
        Ok(pools)
    }

    /// The pool of a state, where it was made.
    pub fn get(&self, id: StateId) -> Option<&P> {
        self.0.get(id.0 as usize)?.as_ref().map(|(_, pool)| pool)
    }

    /// The same, to be written.
    pub fn get_mut(&mut self, id: StateId) -> Option<&mut P> {
        self.0.get_mut(id.0 as usize)?.as_mut().map(|(_, pool)| pool)
    }

    /// The pools of a KV group.
    pub fn of_group(&self, group: usize) -> impl Iterator<Item = &P> {
        self.0.iter().flatten().filter(move |(of, _)| *of == group).map(|(_, pool)| pool)
    }

    /// The same, to be written.
    pub fn of_group_mut(&mut self, group: usize) -> impl Iterator<Item = &mut P> {
        self.0.iter_mut().flatten().filter(move |(of, _)| *of == group).map(|(_, pool)| pool)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &P> {
        self.0.iter().flatten().map(|(_, pool)| pool)
    }
}
