//! The model's weights: borrowed from their regions as they lie; vectors decoded to f32.

use minfer_graph::{WeightDecl, WeightId};
use minfer_plan::{DeviceError, PlacedWeight, Region};
use minfer_quant::Quant;

/// All weights that the device was given, by id.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    regions: Vec<Region>,
    entries: Vec<Option<Entry>>,
}

#[derive(Debug)]
struct Entry {
    decl: WeightDecl,
    region: usize,
    offset: usize,
    bytes: usize,
    /// Values of a weight with one row: norms, biases, sinks.
    vector: Vec<f32>,
}

/// One matrix, rows contiguous.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matrix<'a> {
    pub(crate) quant: Quant,
    /// Rows: outputs of a product.
    pub(crate) rows: usize,
    /// Columns: inputs of a product.
    pub(crate) cols: usize,
    pub(crate) row_bytes: usize,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// Bytes of a row; those of the last row for rows beyond it.
    pub(crate) fn row(&self, row: usize) -> &'a [u8] {
        let row = row.min(self.rows.saturating_sub(1));
        &self.bytes[row * self.row_bytes..][..self.row_bytes]
    }
}

impl Weights {
    /// Registers weights: each must lie within its region.
    pub(crate) fn new(
        device: &str,
        regions: &[Region],
        placed: &[PlacedWeight],
    ) -> Result<Weights, DeviceError> {
        let last = placed.iter().map(|weight| weight.id.0 as usize + 1).max().unwrap_or(0);
        let mut entries: Vec<Option<Entry>> = Vec::new();
        entries.resize_with(last, || None);
        for weight in placed {
            let refuse = |reason: String| DeviceError::Weight {
                device: device.to_owned(),
                name: weight.decl.name.clone(),
                reason,
            };
            let entry = entry(regions, weight).map_err(refuse)?;
            entries[weight.id.0 as usize] = Some(entry);
        }
        Ok(Weights { regions: regions.to_vec(), entries })
    }

    /// Whether a weight was registered.
    pub(crate) fn contains(&self, id: WeightId) -> bool {
        self.entries.get(id.0 as usize).is_some_and(Option::is_some)
    }

    fn entry(&self, id: WeightId) -> &Entry {
        self.entries[id.0 as usize].as_ref().expect("a split is loaded only with its weights")
    }

    /// Values of a vector.
    pub(crate) fn vector(&self, id: WeightId) -> &[f32] {
        &self.entry(id).vector
    }

    /// Matrix `expert` of a weight.
    pub(crate) fn matrix(&self, id: WeightId, expert: usize) -> Matrix<'_> {
        let Entry { decl, region, offset, bytes, .. } = self.entry(id);
        let each = bytes / decl.experts.max(1);
        let bytes = &self.regions[*region].bytes()[offset + expert * each..][..each];
        let row_bytes = each / decl.rows.max(1);
        Matrix { quant: decl.quant, rows: decl.rows, cols: decl.cols, row_bytes, bytes }
    }
}

fn entry(regions: &[Region], weight: &PlacedWeight) -> Result<Entry, String> {
    let PlacedWeight { decl, region, offset, .. } = weight;
    let row = decl.quant.row_bytes(decl.cols).map_err(|error| error.to_string())?;
    let rows = decl.rows.checked_mul(decl.experts);
    let bytes = rows.and_then(|rows| rows.checked_mul(row)).ok_or("its size does not fit")?;
    let all = regions.get(*region).map_or(&[][..], Region::bytes);
    let end = offset.checked_add(bytes).filter(|end| *end <= all.len());
    let end = end.ok_or_else(|| {
        let len = all.len();
        format!("expected {bytes} bytes at {offset} of region {region}, found a region of {len}")
    })?;
    let mut vector = Vec::new();
    if rows == Some(1) {
        vector.resize(decl.cols, 0.0);
        let decoded = decl.quant.decode(&all[*offset..end], &mut vector);
        decoded.map_err(|error| error.to_string())?;
    }
    Ok(Entry { decl: decl.clone(), region: *region, offset: *offset, bytes, vector })
}
