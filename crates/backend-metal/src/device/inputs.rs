//! Step inputs in memory that the GPU reads: token ids, positions, tables, work lists.

use std::ops::Range;

use minfer_graph::{Input, StepShape};
use minfer_plan::Inputs;

use crate::sys::{Buffer, Gpu};

/// Alignment of each list.
const ALIGNMENT: usize = 256;

/// The inputs of one step: each list where a launch finds it.
#[derive(Default)]
pub(super) struct InputArea {
    buffer: Option<Buffer>,
    places: Vec<(Input, Range<usize>)>,
}

impl InputArea {
    /// Writes the lists that a split reads. `tokens` are the ids; those promised are copied over
    /// later. Fails with the bytes that could not be had.
    pub(super) fn fill(
        &mut self,
        gpu: &Gpu,
        wanted: &[Input],
        shape: &StepShape,
        inputs: &Inputs,
        tokens: &[i32],
    ) -> Result<(), usize> {
        let lists: Vec<Vec<i32>> =
            wanted.iter().map(|input| inputs.integers(*input, shape, tokens)).collect();
        self.places.clear();
        let mut end = 0;
        for (input, list) in wanted.iter().zip(&lists) {
            self.places.push((*input, end..end + 4 * list.len()));
            end = (end + 4 * list.len()).next_multiple_of(ALIGNMENT);
        }
        if self.buffer.as_ref().is_none_or(|buffer| buffer.len() < end) {
            self.buffer = gpu.buffer(end);
        }
        let buffer = self.buffer.as_mut().ok_or(end)?;
        let written = self.places.iter().zip(&lists).all(|((_, place), list)| {
            let bytes: Vec<u8> = list.iter().flat_map(|integer| integer.to_le_bytes()).collect();
            buffer.write(place.start, &bytes)
        });
        if written { Ok(()) } else { Err(end) }
    }

    /// Where a list is.
    pub(super) fn place(&self, input: Input) -> Option<(&Buffer, Range<usize>)> {
        let (_, place) = self.places.iter().find(|(known, _)| *known == input)?;
        Some((self.buffer.as_ref()?, place.clone()))
    }
}
