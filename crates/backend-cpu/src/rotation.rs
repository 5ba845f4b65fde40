//! Sines and cosines of rotary embeddings, computed once per step and shared by all layers that
//! turn alike.

use std::sync::Arc;

use minfer_graph::op::rope::Rope;

/// Kinds of rotation remembered: models have one or two.
const KINDS: usize = 4;

/// The tables of the latest steps.
#[derive(Debug, Default)]
pub(crate) struct Rotations {
    tables: Vec<Table>,
    clock: u64,
}

#[derive(Debug)]
struct Table {
    /// Kept alive, so that its address stays its own.
    frequencies: Arc<[f64]>,
    magnitude: f32,
    positions: Vec<i32>,
    cos: Vec<f32>,
    sin: Vec<f32>,
    used: u64,
}

/// Cosines and sines, a row of `pairs` each per token row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns<'a> {
    pairs: usize,
    cos: &'a [f32],
    sin: &'a [f32],
}

impl Turns<'_> {
    /// Those of one token row.
    pub(crate) fn row(&self, row: usize) -> (&[f32], &[f32]) {
        let range = row * self.pairs..(row + 1) * self.pairs;
        (&self.cos[range.clone()], &self.sin[range])
    }
}

impl Rotations {
    /// The tables of a rotation at these positions.
    pub(crate) fn turns(&mut self, rope: &Rope, positions: &[i32]) -> Turns<'_> {
        self.clock += 1;
        let same = |table: &Table| {
            Arc::ptr_eq(&table.frequencies, &rope.frequencies)
                && table.magnitude.to_bits() == rope.magnitude.to_bits()
        };
        let index = match self.tables.iter().position(same) {
            Some(index) => index,
            None => self.place(rope),
        };
        let table = &mut self.tables[index];
        table.used = self.clock;
        if table.positions != positions {
            table.compute(positions);
        }
        Turns { pairs: table.frequencies.len(), cos: &table.cos, sin: &table.sin }
    }

    /// A table for a rotation not seen lately, in the place of the one unused longest if there are
    /// many.
    fn place(&mut self, rope: &Rope) -> usize {
        let table = Table {
            frequencies: rope.frequencies.clone(),
            magnitude: rope.magnitude,
            positions: Vec::new(),
            cos: Vec::new(),
            sin: Vec::new(),
            used: 0,
        };
        if self.tables.len() < KINDS {
            self.tables.push(table);
            return self.tables.len() - 1;
        }
        let oldest = (0..KINDS).min_by_key(|&i| self.tables[i].used).unwrap_or(0);
        self.tables[oldest] = table;
        oldest
    }
}

impl Table {
    fn compute(&mut self, positions: &[i32]) {
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        self.cos.clear();
        self.sin.clear();
        for position in positions {
            for frequency in self.frequencies.iter() {
                let (sin, cos) = libm::sincos(f64::from(*position) * frequency);
                self.cos.push(cos as f32 * self.magnitude);
                self.sin.push(sin as f32 * self.magnitude);
            }
        }
    }
}
