//! Where values lie while a split runs.

use std::collections::HashMap;

use minfer_graph::{Counts, ValueId};
use minfer_plan::{DeviceError, Place, Split};

use crate::real::Real;
use crate::tensor::Tensor;

/// Bytes aligned for every element type.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Vec<u64>);

impl Buffer {
    /// Makes room for `bytes`.
    pub(crate) fn grow(
        &mut self,
        device: &str,
        what: &str,
        bytes: usize,
    ) -> Result<(), DeviceError> {
        let words = bytes.div_ceil(size_of::<u64>());
        let more = words.saturating_sub(self.0.len());
        self.0.try_reserve_exact(more).map_err(|_| DeviceError::OutOfMemory {
            device: device.to_string(),
            what: what.to_string(),
            requested: bytes as u64,
        })?;
        self.0.resize(self.0.len() + more, 0);
        Ok(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// The numbers of `N` bytes each that lie in `bytes`.
pub(crate) fn numbers<V, const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> V) -> Vec<V> {
    let (elements, rest) = bytes.as_chunks::<N>();
    debug_assert!(rest.is_empty(), "whole numbers");
    elements.iter().map(|&element| number(element)).collect()
}

/// Values of a running split.
pub(crate) trait Values<T> {
    /// A value that has been set or imported.
    fn get(&self, id: ValueId) -> Tensor<T>;
    /// Keeps a value.
    fn set(&mut self, id: ValueId, value: Tensor<T>);
}

/// Values in the planned memory, at the planned offsets: a plan that lets two live values overlap
/// gives wrong numbers here as it would on any device.
pub(crate) struct Planned<'a> {
    pub(crate) split: &'a Split,
    pub(crate) counts: Counts,
    pub(crate) arena: &'a mut [u8],
    pub(crate) staging: &'a mut [u8],
}

impl Values<f32> for Planned<'_> {
    fn get(&self, id: ValueId) -> Tensor<f32> {
        let ty = self.split.graph.ty(id);
        let bytes = ty.rows.live(&self.counts) * ty.row_bytes();
        let (memory, offset) = match place(self.split, id) {
            Place::Arena(offset) => (&*self.arena, offset),
            Place::Staging(offset) => (&*self.staging, offset),
        };
        Tensor::from_bytes(ty, &memory[offset..offset + bytes])
    }

    fn set(&mut self, id: ValueId, value: Tensor<f32>) {
        let bytes = value.to_bytes();
        let (memory, offset) = match place(self.split, id) {
            Place::Arena(offset) => (&mut *self.arena, offset),
            Place::Staging(offset) => (&mut *self.staging, offset),
        };
        memory[offset..offset + bytes.len()].copy_from_slice(&bytes);
    }
}

/// Values in memory of their own, in double precision; those that others read lie in the staging
/// area too, in f32.
pub(crate) struct Apart<'a> {
    pub(crate) split: &'a Split,
    pub(crate) counts: Counts,
    pub(crate) values: HashMap<ValueId, Tensor<f64>>,
    pub(crate) staging: &'a mut [u8],
}

impl Values<f64> for Apart<'_> {
    fn get(&self, id: ValueId) -> Tensor<f64> {
        if let Some(value) = self.values.get(&id) {
            return value.clone();
        }
        let ty = self.split.graph.ty(id);
        let bytes = ty.rows.live(&self.counts) * ty.row_bytes();
        match place(self.split, id) {
            Place::Staging(offset) => Tensor::from_bytes(ty, &self.staging[offset..offset + bytes]),
            Place::Arena(_) => unreachable!("verified: a node has defined the value"),
        }
    }

    fn set(&mut self, id: ValueId, value: Tensor<f64>) {
        if let Place::Staging(offset) = place(self.split, id) {
            let bytes = value.to_bytes();
            self.staging[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
        self.values.insert(id, value);
    }
}

fn place(split: &Split, id: ValueId) -> Place {
    split.memory.place(id).expect("planned: every value of the split has a place")
}

/// Copies imports to their places.
pub(crate) fn import(split: &Split, staging: &mut [u8], imports: &[Vec<u8>]) {
    for (&id, bytes) in split.imports.iter().zip(imports) {
        match place(split, id) {
            Place::Staging(offset) => staging[offset..offset + bytes.len()].copy_from_slice(bytes),
            Place::Arena(_) => unreachable!("planned: imports lie in the staging area"),
        }
    }
}

/// The first column of an i32 export.
pub(crate) fn first_column<T: Real>(values: &impl Values<T>, id: ValueId) -> Vec<i32> {
    values.get(id).index_rows().map(|row| row[0]).collect()
}
