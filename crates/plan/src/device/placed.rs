//! Where a split's values lie, looked up once.

use std::ops::Range;

use minfer_graph::{Counts, OutputKind, Rows, ValueId};

use crate::memory::Place;
use crate::program::Split;

/// A value's place and size in the areas of its split.
#[derive(Clone, Copy, Debug)]
pub struct PlacedValue {
    /// Its area, and where it begins there.
    pub place: Place,
    rows: Rows,
    row_bytes: usize,
    capacity: usize,
}

impl PlacedValue {
    fn offset(&self) -> usize {
        match self.place {
            Place::Arena(offset) | Place::Staging(offset) => offset,
        }
    }

    /// Bytes of the live rows, in its area.
    pub fn live(&self, counts: &Counts) -> Range<usize> {
        let start = self.offset();
        start..start + self.rows.live(counts) * self.row_bytes
    }

    /// All bytes that are kept for it.
    pub fn reserved(&self) -> Range<usize> {
        self.offset()..self.offset() + self.capacity
    }
}

impl Split {
    /// A value that has a place inside the split's areas.
    pub fn placed(&self, value: ValueId) -> Option<PlacedValue> {
        let ty = self.graph.ty(value);
        let place = self.memory.place(value)?;
        let capacity = ty.bytes(&self.graph.tables.shape);
        let (offset, area) = match place {
            Place::Arena(offset) => (offset, self.memory.arena_bytes),
            Place::Staging(offset) => (offset, self.memory.staging_bytes),
        };
        let fits = offset.checked_add(capacity).is_some_and(|end| end <= area);
        fits.then_some(PlacedValue { place, rows: ty.rows, row_bytes: ty.row_bytes(), capacity })
    }

    /// An export: it can be read after the step.
    pub fn exported(&self, value: ValueId) -> Option<PlacedValue> {
        let placed = self.placed(value)?;
        let readable = matches!(placed.place, Place::Staging(_));
        (readable && self.exports.contains(&value)).then_some(placed)
    }

    /// The ids that later steps may refer to, where the split computes them.
    pub fn ids(&self) -> Option<PlacedValue> {
        let ids = self.graph.outputs.iter().find(|output| output.kind == OutputKind::Ids)?;
        self.exported(ids.value)
    }
}
