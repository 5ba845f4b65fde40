//! Attention work lists: every row meets every partition that it sees once, within bounds.

use minfer_graph::{PAGE_POSITIONS, PARTITION_POSITIONS, StepShape, Work};
use minfer_plan::{
    Bounds, GroupInputs, Inputs, ROW_TILE, SequenceRows, TokenInput, attention_work, work_capacity,
};
use proptest::prelude::*;

use crate::world::SHAPE;

/// Positions that a sequence's page table holds.
const CONTEXT: usize = 4096;

fn sequences() -> impl Strategy<Value = Vec<SequenceRows>> {
    // Mostly decode rows and small chunks, at any depth.
    let rows = prop_oneof![Just(1usize), 1..20usize, 1..70usize];
    let one = (rows, 0..CONTEXT - 70);
    prop::collection::vec(one, 1..6).prop_map(|drawn| {
        let mut row = 0;
        let place = |(index, (rows, position))| {
            row += rows;
            SequenceRows { row: row - rows, rows, sequence: index, position }
        };
        drawn.into_iter().enumerate().map(place).collect()
    })
}

fn shape(sequences: &[SequenceRows], partials: usize) -> StepShape {
    let tokens = sequences.iter().map(|s| s.rows).sum();
    let count = sequences.len();
    StepShape {
        tokens,
        outputs: 1,
        sequences: count,
        pages: CONTEXT / PAGE_POSITIONS,
        work: work_capacity(tokens, count, partials),
        partials,
        ..SHAPE
    }
}

/// Items that give row `row` the partition that starts at `start`.
fn covering(work: &[Work], row: usize, start: usize) -> Vec<&Work> {
    let of_row = |w: &&Work| (w.row as usize..(w.row + w.rows) as usize).contains(&row);
    let of_start = |w: &&Work| (w.kv_start as usize..w.kv_end as usize).contains(&start);
    work.iter().filter(of_row).filter(of_start).collect()
}

fn check_coverage(
    s: &SequenceRows,
    window: Option<usize>,
    work: &[Work],
) -> Result<(), TestCaseError> {
    for i in 0..s.rows {
        let position = s.position + i;
        let first = window.map_or(0, |window| (position + 1).saturating_sub(window));
        let mut slots = Vec::new();
        for partition in first / PARTITION_POSITIONS..=position / PARTITION_POSITIONS {
            let start = partition * PARTITION_POSITIONS;
            let items = covering(work, s.row + i, start);
            prop_assert_eq!(items.len(), 1, "row {} partition {}", s.row + i, partition);
            let item = items[0];
            prop_assert_eq!(item.sequence as usize, s.sequence);
            // All that the row sees of the partition.
            let needed = (position + 1).min(start + PARTITION_POSITIONS);
            prop_assert!(item.kv_end as usize >= needed);
            prop_assert!(item.kv_end as usize <= s.position + s.rows);
            prop_assert!(item.rows as usize <= ROW_TILE);
            slots.push(item.slot);
        }
        // Either one item for all, or one slot a partition, side by side.
        let rows = covering(work, s.row + i, first / PARTITION_POSITIONS * PARTITION_POSITIONS);
        let step = if slots[0] < 0 { 0 } else { rows[0].rows };
        let expected: Vec<i32> = (0..slots.len() as i32).map(|p| slots[0] + p * step).collect();
        prop_assert_eq!(slots, expected);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_row_meets_every_partition_once(
        sequences in sequences(),
        window in prop::option::of(1..1500usize),
        partials in 0..20usize,
    ) {
        let shape = shape(&sequences, partials);
        let work = attention_work(&sequences, window, &shape);
        prop_assert!(work.len() <= shape.work, "{} of {}", work.len(), shape.work);
        for s in &sequences {
            check_coverage(s, window, &work)?;
        }
        let mut slots: Vec<i32> = work.iter()
            .filter(|w| w.slot >= 0)
            .flat_map(|w| w.slot..w.slot + w.rows)
            .collect();
        let taken = slots.len();
        slots.sort_unstable();
        slots.dedup();
        prop_assert_eq!(slots.len(), taken, "a slot is taken twice");
        prop_assert!(slots.last().is_none_or(|&last| (last as usize) < partials));

        let positions: Vec<i32> = sequences.iter()
            .flat_map(|s| s.position..s.position + s.rows)
            .map(|position| position as i32)
            .collect();
        let pages = vec![0; sequences.len() * shape.pages];
        let slots = vec![0; shape.tokens];
        let inputs = Inputs {
            tokens: vec![TokenInput::Known(0); shape.tokens],
            positions,
            output_rows: vec![0],
            groups: vec![GroupInputs { slots, pages, work }],
            profile: false,
        };
        let bounds = Bounds { vocabulary: 1, context: CONTEXT, pool_pages: vec![1] };
        prop_assert_eq!(inputs.check(&shape, &bounds), Ok(()));
    }
}

#[test]
fn a_deep_decode_is_shared_out_as_long_as_slots_last() {
    let decode = |sequence, position| SequenceRows { row: sequence, rows: 1, sequence, position };
    let sequences = [decode(0, 1100), decode(1, 1100), decode(2, 100), decode(3, 600)];
    let shape = shape(&sequences, 5);
    let item =
        |row, kv_start, kv_end, slot| Work { row, rows: 1, sequence: row, kv_start, kv_end, slot };
    // Three of five slots go to the first; the second needs three, so it stays whole; the last
    // needs two.
    assert_eq!(
        attention_work(&sequences, None, &shape),
        [
            item(0, 0, 512, 0),
            item(0, 512, 1024, 1),
            item(0, 1024, 1101, 2),
            item(1, 0, 1101, -1),
            item(2, 0, 101, -1),
            item(3, 0, 512, 3),
            item(3, 512, 601, 4),
        ]
    );
    // A window of 100 ends within the last partition, or reaches one back.
    let windowed = attention_work(&sequences[..2], Some(100), &shape);
    assert_eq!(windowed[..2], [item(0, 512, 1024, 0), item(0, 1024, 1101, 1)]);
    let windowed = attention_work(&sequences[..1], Some(70), &shape);
    assert_eq!(windowed, [item(0, 1024, 1101, -1)]);
}

#[test]
fn a_chunk_comes_in_tiles() {
    let sequences = [SequenceRows { row: 3, rows: 35, sequence: 1, position: 1000 }];
    let shape = StepShape { work: 9, ..shape(&sequences, 9) };
    let item = |row, rows, kv_end| Work { row, rows, sequence: 1, kv_start: 0, kv_end, slot: -1 };
    let items = [item(3, 16, 1016), item(19, 16, 1032), item(35, 3, 1035)];
    assert_eq!(attention_work(&sequences, None, &shape), items);
    assert_eq!(attention_work(&[], None, &shape), []);
}
