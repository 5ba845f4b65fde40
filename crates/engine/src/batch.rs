//! A step's inputs from the rows that were scheduled.

use minfer_graph::{PAGE_POSITIONS, StateDecl, StepShape};
use minfer_plan::{GroupInputs, Inputs, SequenceRows, TokenInput, attention_work};

use crate::kv::Tables;

/// Consecutive rows of one sequence in a step.
pub(crate) struct StepRows<'a> {
    /// Position of the first row.
    pub(crate) start: usize,
    /// Tokens of the rows.
    pub(crate) tokens: &'a [u32],
    /// Positions whose output is asked for, in rising order, each one of the rows.
    pub(crate) outputs: &'a [usize],
    /// Pages of the sequence.
    pub(crate) tables: &'a Tables,
}

/// Windows of the KV groups, by group.
pub(crate) fn windows(states: &[StateDecl]) -> Vec<Option<usize>> {
    let mut windows = Vec::new();
    for state in states {
        if let StateDecl::Paged { group, window, .. } = state {
            if *group >= windows.len() {
                windows.resize(*group + 1, None);
            }
            windows[*group] = *window;
        }
    }
    windows
}

/// The inputs of a step of `shape`.
pub(crate) fn inputs(
    rows: &[StepRows<'_>],
    shape: &StepShape,
    windows: &[Option<usize>],
) -> Inputs {
    let mut inputs = Inputs::default();
    let mut sequences = Vec::with_capacity(rows.len());
    for (index, sequence) in rows.iter().enumerate() {
        let row = inputs.tokens.len();
        sequences.push(SequenceRows {
            row,
            rows: sequence.tokens.len(),
            sequence: index,
            position: sequence.start,
        });
        inputs.tokens.extend(sequence.tokens.iter().map(|id| TokenInput::Known(*id)));
        let positions = sequence.start..sequence.start + sequence.tokens.len();
        inputs.positions.extend(positions.map(|position| position as i32));
        let outputs =
            sequence.outputs.iter().map(|position| (row + position - sequence.start) as i32);
        inputs.output_rows.extend(outputs);
    }
    let groups = windows.iter().enumerate();
    inputs.groups = groups
        .map(|(group, window)| GroupInputs {
            slots: rows.iter().flat_map(|sequence| slots(sequence, group)).collect(),
            pages: rows.iter().flat_map(|s| page_table(s.tables, group, shape.pages)).collect(),
            work: attention_work(&sequences, *window, shape),
        })
        .collect();
    inputs
}

/// Cache slots of a sequence's rows. A missing page gives -1, which the check of inputs refuses.
fn slots<'a>(rows: &'a StepRows<'_>, group: usize) -> impl Iterator<Item = i32> + 'a {
    let pages = rows.tables.pages(group);
    (rows.start..rows.start + rows.tokens.len()).map(move |position| {
        let page = pages.get(position / PAGE_POSITIONS).copied().flatten();
        page.map_or(-1, |page| (page as usize * PAGE_POSITIONS + position % PAGE_POSITIONS) as i32)
    })
}

/// A page table as a row of `entries`; pages that no query sees are 0.
fn page_table(tables: &Tables, group: usize, entries: usize) -> impl Iterator<Item = i32> + '_ {
    let pages = tables.pages(group).iter().map(|page| page.unwrap_or(0) as i32);
    pages.chain(std::iter::repeat(0)).take(entries)
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
