//! What a step brings: token ids, positions, cache slots, page tables, attention work.

use minfer_graph::{
    Counts, Input, PAGE_POSITIONS, PARTITION_POSITIONS, StepShape, WORK_FIELDS, Work,
};

use crate::error::InputError;

/// A token id, or a promise of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenInput {
    /// The id.
    Known(u32),
    /// An id that an earlier step, which may still be running, gives.
    From {
        /// Ticket of that step on the same device.
        ticket: u64,
        /// Index among its ids, of which each output row has as many as the step's shape wants.
        row: u32,
    },
}

/// Inputs of one KV group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupInputs {
    /// Cache slot (page × 32 + offset) of each token row.
    pub slots: Vec<i32>,
    /// Page tables, `shape.pages` entries for each sequence of the step; entries past a sequence's
    /// end are 0.
    pub pages: Vec<i32>,
    /// Attention work.
    pub work: Vec<Work>,
}

/// All inputs of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// One per token row.
    pub tokens: Vec<TokenInput>,
    /// Position of each token row in its sequence.
    pub positions: Vec<i32>,
    /// Token row of each output row.
    pub output_rows: Vec<i32>,
    /// One per KV group.
    pub groups: Vec<GroupInputs>,
    /// Whether launches are timed.
    pub profile: bool,
}

/// What indices in a step's inputs may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Token ids.
    pub vocabulary: usize,
    /// Positions.
    pub context: usize,
    /// Pages in each KV group's pool.
    pub pool_pages: Vec<usize>,
}

impl Inputs {
    /// Rows of the step.
    pub fn counts(&self) -> Counts {
        Counts { tokens: self.tokens.len(), outputs: self.output_rows.len() }
    }

    /// A step input as the integers that a device's memory holds. `tokens` are the ids, promises
    /// resolved; tables and work lists are as long as the shape says, filled up with zeros.
    pub fn integers(&self, input: Input, shape: &StepShape, tokens: &[i32]) -> Vec<i32> {
        let filled = |mut list: Vec<i32>, len: usize| {
            list.resize(len, 0);
            list
        };
        match input {
            Input::Tokens => tokens.to_vec(),
            Input::Positions => self.positions.clone(),
            Input::OutputRows => self.output_rows.clone(),
            Input::Slots { group } => self.groups[group].slots.clone(),
            Input::Pages { group } => {
                filled(self.groups[group].pages.clone(), shape.sequences * shape.pages)
            }
            Input::Work { group } => {
                let work = self.groups[group].work.iter().flat_map(|work| work.to_row()).collect();
                filled(work, shape.work * WORK_FIELDS)
            }
        }
    }

    /// Checks every index against `shape` and `bounds`; kernels trust the result.
    pub fn check(&self, shape: &StepShape, bounds: &Bounds) -> Result<(), InputError> {
        let tokens = self.tokens.len();
        at_most("tokens", shape.tokens, tokens)?;
        at_most("output_rows", shape.outputs, self.output_rows.len())?;
        exactly("positions", tokens, self.positions.len())?;
        exactly("groups", bounds.pool_pages.len(), self.groups.len())?;
        for (index, token) in self.tokens.iter().enumerate() {
            if let TokenInput::Known(id) = token {
                in_range("tokens", index, bounds.vocabulary, i64::from(*id))?;
            }
        }
        all_in_range("positions", bounds.context, &self.positions)?;
        all_in_range("output_rows", tokens, &self.output_rows)?;
        for (group, (inputs, pages)) in self.groups.iter().zip(&bounds.pool_pages).enumerate() {
            let slots = pages * PAGE_POSITIONS;
            exactly(&format!("slots.{group}"), tokens, inputs.slots.len())?;
            all_in_range(&format!("slots.{group}"), slots, &inputs.slots)?;
            let name = format!("pages.{group}");
            at_most(&name, shape.sequences * shape.pages, inputs.pages.len())?;
            if shape.pages > 0 && !inputs.pages.len().is_multiple_of(shape.pages) {
                let expected = inputs.pages.len().next_multiple_of(shape.pages);
                return Err(InputError::Length {
                    input: name,
                    expected,
                    found: inputs.pages.len(),
                });
            }
            all_in_range(&name, *pages, &inputs.pages)?;
            at_most(&format!("work.{group}"), shape.work, inputs.work.len())?;
            for (index, work) in inputs.work.iter().enumerate() {
                check_work(work, shape, tokens, inputs.pages.len())
                    .map_err(|reason| InputError::Work { group, index, reason })?;
            }
        }
        Ok(())
    }
}

fn check_work(
    work: &Work,
    shape: &StepShape,
    tokens: usize,
    page_entries: usize,
) -> Result<(), String> {
    let within = |value: i32, limit: usize| usize::try_from(value).is_ok_and(|v| v <= limit);
    let rows_end = i64::from(work.row) + i64::from(work.rows);
    if work.row < 0 || work.rows < 1 || rows_end > tokens as i64 {
        return Err(format!("rows {}+{} of a step of {tokens}", work.row, work.rows));
    }
    let tables = page_entries / shape.pages.max(1);
    if work.sequence < 0 || work.sequence as usize >= tables {
        return Err(format!("page table {} of {tables}", work.sequence));
    }
    let positions = shape.pages * PAGE_POSITIONS;
    let aligned =
        work.kv_start >= 0 && (work.kv_start as usize).is_multiple_of(PARTITION_POSITIONS);
    if !aligned || work.kv_start > work.kv_end || !within(work.kv_end, positions) {
        return Err(format!(
            "KV positions {}..{} of {positions}, from a multiple of {}",
            work.kv_start, work.kv_end, PARTITION_POSITIONS
        ));
    }
    if work.slot >= 0 && (work.kv_end - work.kv_start) as usize > PARTITION_POSITIONS {
        return Err(format!(
            "a partial result over {} KV positions, at most {PARTITION_POSITIONS}",
            work.kv_end - work.kv_start
        ));
    }
    let slots_end = i64::from(work.slot) + i64::from(work.rows);
    if work.slot >= 0 && slots_end > shape.partials as i64 {
        return Err(format!("partial slots up to {slots_end} of {}", shape.partials));
    }
    Ok(())
}

fn at_most(input: &str, expected: usize, found: usize) -> Result<(), InputError> {
    if found <= expected {
        return Ok(());
    }
    Err(InputError::Length { input: input.into(), expected, found })
}

fn exactly(input: &str, expected: usize, found: usize) -> Result<(), InputError> {
    if found == expected {
        return Ok(());
    }
    Err(InputError::Length { input: input.into(), expected, found })
}

fn in_range(input: &str, index: usize, limit: usize, found: i64) -> Result<(), InputError> {
    if usize::try_from(found).is_ok_and(|value| value < limit) {
        return Ok(());
    }
    Err(InputError::Range { input: input.into(), index, limit, found })
}

fn all_in_range(input: &str, limit: usize, values: &[i32]) -> Result<(), InputError> {
    for (index, value) in values.iter().enumerate() {
        in_range(input, index, limit, i64::from(*value))?;
    }
    Ok(())
}
