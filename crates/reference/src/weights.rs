//! The model's weights, read in place from the regions they were registered in.

use std::collections::HashMap;
use std::ops::Range;

use minfer_graph::{WeightDecl, WeightId};
use minfer_plan::{DeviceError, PlacedWeight, Region};
use minfer_quant::Quant;

use crate::real::Real;

/// Registered weights.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    entries: HashMap<WeightId, Entry>,
}

#[derive(Debug)]
struct Entry {
    decl: WeightDecl,
    row_bytes: usize,
    region: Region,
    range: Range<usize>,
}

/// A weight's matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    decl: &'a WeightDecl,
    row_bytes: usize,
    bytes: &'a [u8],
}

impl Weights {
    /// Takes the weights after checking that each lies within its region.
    pub(crate) fn new(
        device: &str,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Weights, DeviceError> {
        let mut entries = HashMap::with_capacity(weights.len());
        for weight in weights {
            let entry = entry(regions, weight).map_err(|reason| DeviceError::Weight {
                device: device.to_string(),
                name: weight.decl.name.clone(),
                reason,
            })?;
            entries.insert(weight.id, entry);
        }
        Ok(Weights { entries })
    }

    /// Whether a weight is registered with this declaration.
    pub(crate) fn has(&self, id: WeightId, decl: &WeightDecl) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.decl == *decl)
    }

    /// A weight that [`Weights::has`] has confirmed.
    pub(crate) fn matrix(&self, id: WeightId) -> Matrix<'_> {
        let entry = &self.entries[&id];
        let bytes = &entry.region.bytes()[entry.range.clone()];
        Matrix { decl: &entry.decl, row_bytes: entry.row_bytes, bytes }
    }

    /// A vector weight.
    pub(crate) fn vector<T: Real>(&self, id: WeightId) -> Vec<T> {
        let matrix = self.matrix(id);
        matrix.decode(matrix.bytes)
    }
}

fn entry(regions: &[Region], weight: &PlacedWeight) -> Result<Entry, String> {
    let decl = &weight.decl;
    let region = regions.get(weight.region).ok_or_else(|| {
        format!("expected one of {} regions, found {}", regions.len(), weight.region)
    })?;
    let row_bytes = decl.quant.row_bytes(decl.cols).map_err(|error| error.to_string())?;
    let bytes = row_bytes.checked_mul(decl.rows).and_then(|b| b.checked_mul(decl.experts));
    let end = bytes.and_then(|bytes| weight.offset.checked_add(bytes));
    let found = region.bytes().len();
    match end {
        Some(end) if end <= found => Ok(Entry {
            decl: decl.clone(),
            row_bytes,
            region: region.clone(),
            range: weight.offset..end,
        }),
        Some(_) | None => Err(format!(
            "expected {} times {} rows of {row_bytes} bytes at {}, found a region of {found} bytes",
            decl.experts, decl.rows, weight.offset
        )),
    }
}

impl<'a> Matrix<'a> {
    /// Stored format.
    pub(crate) fn quant(&self) -> Quant {
        self.decl.quant
    }

    /// Output dimension.
    pub(crate) fn rows(&self) -> usize {
        self.decl.rows
    }

    /// Input dimension.
    pub(crate) fn cols(&self) -> usize {
        self.decl.cols
    }

    /// Stored bytes of a row of an expert's matrix; `None` for an index that is data and out of
    /// range.
    pub(crate) fn row(&self, expert: i32, row: i32) -> Option<&'a [u8]> {
        let expert = usize::try_from(expert).ok().filter(|&e| e < self.decl.experts)?;
        let row = usize::try_from(row).ok().filter(|&r| r < self.decl.rows)?;
        let start = (expert * self.decl.rows + row) * self.row_bytes;
        self.bytes.get(start..start + self.row_bytes)
    }

    /// Stored bytes decoded to f32.
    pub(crate) fn decode<T: Real>(&self, row: &[u8]) -> Vec<T> {
        let mut decoded = vec![0.0; self.decl.cols];
        self.decl.quant.decode(row, &mut decoded).expect("a row's bytes fit its columns");
        decoded.into_iter().map(T::widen).collect()
    }
}
