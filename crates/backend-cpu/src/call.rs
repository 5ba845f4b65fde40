//! What a kernel gets to work with.

use std::ops::Range;

use minfer_graph::{Counts, Graph, Input, Node, TensorType, Work};
use minfer_plan::{GroupInputs, Inputs};

use crate::rotation::Rotations;
use crate::simd::Simd;
use crate::state::States;
use crate::sys::{Cuts, Fault, Grid, Read, Rectangle, Views, Workers};
use crate::weights::Weights;

/// Elements that one task of a row-by-row kernel gets at least.
pub(crate) const TASK_ELEMENTS: usize = 8192;

/// The data of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepData<'a> {
    /// Token ids; -1 where an earlier step had no largest logit.
    pub(crate) tokens: &'a [i32],
    /// All else.
    pub(crate) inputs: &'a Inputs,
}

impl<'a> StepData<'a> {
    /// Inputs of a KV group.
    pub(crate) fn group(&self, group: usize) -> Result<&'a GroupInputs, Fault> {
        let missing = || Fault::Failed(format!("the step has no inputs for KV group {group}"));
        self.inputs.groups.get(group).ok_or_else(missing)
    }

    fn integers(&self, input: Input) -> Result<&'a [i32], Fault> {
        match input {
            Input::Tokens => Ok(self.tokens),
            Input::Positions => Ok(&self.inputs.positions),
            Input::OutputRows => Ok(&self.inputs.output_rows),
            Input::Slots { group } => Ok(&self.group(group)?.slots),
            Input::Pages { group } => Ok(&self.group(group)?.pages),
            Input::Work { .. } => Err(Fault::Failed("work is not read as integers".into())),
        }
    }
}

/// Lists that attention makes of its work, kept to be filled again.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    /// Work items in the order of what they write.
    pub(crate) items: Vec<Work>,
    /// Rows or slots that each writes.
    pub(crate) ranges: Vec<Range<usize>>,
}

/// One launch: its op's operands in place, and everything that is the device's.
pub(crate) struct Call<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) node: &'a Node,
    pub(crate) counts: Counts,
    pub(crate) step: StepData<'a>,
    pub(crate) weights: &'a Weights,
    pub(crate) states: &'a mut States,
    pub(crate) rotations: &'a mut Rotations,
    pub(crate) lists: &'a mut Lists,
    pub(crate) simd: Simd,
    pub(crate) workers: Workers<'a>,
    pub(crate) views: Views<'a>,
}

/// Operand 0 of an op that may work in place: rows to copy first, or nothing where the output
/// already holds them.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a>(Option<&'a [f32]>);

impl Source<'_> {
    /// Brings the output's row `row` of `to.len()` columns to the operand's values.
    pub(crate) fn fill(self, row: usize, to: &mut [f32]) {
        if let Some(from) = self.0 {
            to.copy_from_slice(&from[row * to.len()..][..to.len()]);
        }
    }
}

impl<'a> Call<'a> {
    /// Type of operand `index`.
    pub(crate) fn input_type(&self, index: usize) -> TensorType {
        self.graph.ty(self.node.inputs[index])
    }

    /// Type of result `index`.
    pub(crate) fn output_type(&self, index: usize) -> TensorType {
        self.graph.ty(self.node.outputs[index])
    }

    /// Live rows of result `index`.
    pub(crate) fn output_rows(&self, index: usize) -> usize {
        self.output_type(index).rows.live(&self.counts)
    }

    /// Bytes of operand `index`, a value that this launch does not write.
    pub(crate) fn bytes(&self, index: usize) -> Result<&'a [u8], Fault> {
        match self.views.reads[index] {
            Read::Bytes(bytes) => Ok(bytes),
            Read::InPlace(_) | Read::None => {
                let name = &self.node.name;
                Err(Fault::Failed(format!("{name}: operand {index} is not a separate value")))
            }
        }
    }

    /// Operand `index` as f32.
    pub(crate) fn floats(&self, index: usize) -> Result<&'a [f32], Fault> {
        Ok(bytemuck::cast_slice(self.bytes(index)?))
    }

    /// Operand `index` as i32: a value or a step input.
    pub(crate) fn integers(&self, index: usize) -> Result<&'a [i32], Fault> {
        match self.graph.values[self.node.inputs[index].0 as usize].input {
            Some(input) => self.step.integers(input),
            None => Ok(bytemuck::cast_slice(self.bytes(index)?)),
        }
    }

    /// Takes result `index` to be written.
    pub(crate) fn take<T: bytemuck::Pod>(&mut self, index: usize) -> &'a mut [T] {
        bytemuck::cast_slice_mut(std::mem::take(&mut self.views.writes[index]))
    }

    /// Takes the launch's scratch memory: it comes after the results.
    pub(crate) fn take_scratch<T: bytemuck::Pod>(&mut self) -> &'a mut [T] {
        self.take(self.node.outputs.len())
    }

    /// Takes result 0 of an op that may work in place on operand 0.
    pub(crate) fn take_in_place(&mut self) -> Result<(&'a mut [f32], Source<'a>), Fault> {
        let source = match self.views.reads[0] {
            Read::InPlace(0) => None,
            Read::Bytes(_) | Read::InPlace(_) | Read::None => Some(self.floats(0)?),
        };
        Ok((self.take(0), Source(source)))
    }

    /// Runs `kernel(row, columns)` for each row of an output of `cols` columns.
    pub(crate) fn each_row<T: Send>(
        &self,
        out: &mut [T],
        cols: usize,
        kernel: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<(), Fault> {
        let band = (TASK_ELEMENTS / cols.max(1)).max(1);
        let grid = Grid::new(out, cols, Cuts::Every(band), cols.max(1))?;
        self.workers.each(grid, &|mut rectangle: Rectangle<'_, T>| {
            for row in rectangle.rows.clone() {
                kernel(row, rectangle.row(row));
            }
        })
    }
}
