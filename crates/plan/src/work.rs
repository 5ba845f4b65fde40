//! Attention work lists: pure host code that cuts a step's attention into items of bounded size.

use minfer_graph::{PARTITION_POSITIONS, StepShape, Work};

/// Token rows of one work item at most: rows that share each read of K and V.
pub const ROW_TILE: usize = 16;

/// The rows that one sequence has in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SequenceRows {
    /// First token row.
    pub row: usize,
    /// Token rows, at consecutive positions.
    pub rows: usize,
    /// Row of the page table.
    pub sequence: usize,
    /// Position of the first row.
    pub position: usize,
}

/// Work items that [`attention_work`] makes at most for steps of `tokens` tokens, `sequences`
/// sequences and `partials` partial slots.
pub fn work_capacity(tokens: usize, sequences: usize, partials: usize) -> usize {
    tokens.div_ceil(ROW_TILE) + sequences + partials
}

/// The attention work of one KV group. Rows come in tiles of [`ROW_TILE`]; a sequence with a single
/// row (decode) that sees several partitions becomes one item a partition, as long as partial slots
/// last, so that a deep cache is shared out among workers. Items start at the partition of the
/// first position a row can see.
pub fn attention_work(
    sequences: &[SequenceRows],
    window: Option<usize>,
    shape: &StepShape,
) -> Vec<Work> {
    let mut items = Vec::new();
    let mut next_slot = 0;
    for s in sequences {
        for tile in (0..s.rows).step_by(ROW_TILE) {
            let rows = ROW_TILE.min(s.rows - tile);
            let first = s.position + tile;
            let start = window.map_or(0, |window| (first + 1).saturating_sub(window));
            let start = start / PARTITION_POSITIONS * PARTITION_POSITIONS;
            let end = first + rows;
            let whole = Work {
                row: (s.row + tile) as i32,
                rows: rows as i32,
                sequence: s.sequence as i32,
                kv_start: start as i32,
                kv_end: end as i32,
                slot: -1,
            };
            let partitions = (end - start).div_ceil(PARTITION_POSITIONS);
            if s.rows > 1 || partitions < 2 || next_slot + partitions > shape.partials {
                items.push(whole);
                continue;
            }
            for kv_start in (start..end).step_by(PARTITION_POSITIONS) {
                let kv_end = end.min(kv_start + PARTITION_POSITIONS) as i32;
                let slot = next_slot as i32;
                items.push(Work { kv_start: kv_start as i32, kv_end, slot, ..whole });
                next_slot += 1;
            }
        }
    }
    items
}
