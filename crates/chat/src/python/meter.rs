//! What a render may still cost: fuel, which is the same everywhere, and the caller's time.

use minijinja::{Error, State};

use super::invalid;
use crate::Limits;

/// The fuel and the deadline of a render under way.
#[derive(Clone, Copy)]
pub(super) struct Meter<'m> {
    state: &'m State<'m, 'm>,
    limits: &'m Limits,
}

impl<'m> Meter<'m> {
    pub(super) fn new(state: &'m State<'m, 'm>, limits: &'m Limits) -> Meter<'m> {
        Meter { state, limits }
    }

    /// Pays for work on `bytes` bytes before it is done.
    pub(super) fn charge(self, bytes: usize) -> Result<(), Error> {
        if self.limits.has_expired() {
            return Err(invalid("out of time"));
        }
        self.state.consume_fuel(bytes as u64 / 64)
    }

    /// Steps that are left.
    pub(super) fn fuel(self) -> usize {
        let (_, left) = self.state.fuel_levels().unwrap_or((0, u64::MAX));
        usize::try_from(left).unwrap_or(usize::MAX)
    }
}
