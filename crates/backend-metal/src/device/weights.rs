//! The model's weights in buffers.

use minfer_graph::WeightId;
use minfer_plan::{DeviceError, Region};

use crate::options::MetalOptions;
use crate::spans::{PAGE, Place, Span, Spans};
use crate::sys::{Buffer, Gpu};

/// All weights that the device was given.
#[derive(Default)]
pub(super) struct Weights {
    regions: Vec<Region>,
    planned: Spans,
    buffers: Vec<Buffer>,
}

impl Weights {
    /// Weights whose buffers are not made yet.
    pub(super) fn new(regions: &[Region], planned: Spans) -> Weights {
        Weights { regions: regions.to_vec(), planned, buffers: Vec::new() }
    }

    /// Makes the buffers, again if they were there.
    pub(super) fn make(
        &mut self,
        gpu: &Gpu,
        device: &str,
        options: &MetalOptions,
    ) -> Result<(), DeviceError> {
        self.buffers.clear();
        for Span { region, bytes } in &self.planned.spans {
            let buffer = gpu.wrap(&self.regions[*region], bytes.clone(), options.copy_weights);
            self.buffers.push(buffer.ok_or_else(|| DeviceError::OutOfMemory {
                device: device.to_owned(),
                what: format!("weights from byte {} of part {region}", bytes.start),
                requested: bytes.len() as u64,
            })?);
        }
        Ok(())
    }

    /// Gives the memory back; [`Weights::make`] gets it again.
    pub(super) fn clear(&mut self) {
        self.buffers.clear();
    }

    /// Touches each page once, so that the first prompt does not wait for the disk.
    pub(super) fn warm_up(&self) {
        let mut sum = 0_u8;
        for Span { region, bytes } in &self.planned.spans {
            let pages = self.regions[*region].bytes()[bytes.clone()].iter().step_by(PAGE);
            sum = pages.fold(sum, |sum, byte| sum ^ byte);
        }
        std::hint::black_box(sum);
    }

    /// Where a weight is.
    pub(super) fn place(&self, id: WeightId) -> Option<&Place> {
        self.planned.place(id)
    }

    /// The buffers, as [`Place`]s count them.
    pub(super) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
}
