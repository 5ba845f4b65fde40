//! A step's inputs: each kind of fault is refused, with the numbers.

use minfer_graph::{StepShape, Work};
use minfer_plan::{Bounds, GroupInputs, InputError, Inputs, TokenInput};

use crate::world::SHAPE;

fn shape() -> StepShape {
    StepShape { tokens: 4, outputs: 2, sequences: 2, pages: 20, work: 3, partials: 4, ..SHAPE }
}

fn bounds() -> Bounds {
    Bounds { vocabulary: 100, context: 640, pool_pages: vec![25, 10] }
}

/// Two sequences of two tokens, two KV groups.
fn good() -> Inputs {
    let item = |row, sequence, kv_start, kv_end, slot| Work {
        row,
        rows: 2,
        sequence,
        kv_start,
        kv_end,
        slot,
    };
    let group = GroupInputs {
        slots: vec![0, 31, 64, 319],
        pages: (0..40).map(|i| i % 10).collect(),
        work: vec![item(0, 0, 0, 640, -1), item(2, 1, 0, 512, 0), item(2, 1, 512, 640, 2)],
    };
    Inputs {
        tokens: [0, 99, 5, 7].map(TokenInput::Known).to_vec(),
        positions: vec![0, 1, 638, 639],
        output_rows: vec![1, 3],
        groups: vec![group.clone(), group],
        profile: false,
    }
}

/// What is said of good inputs after a change.
fn after(change: impl FnOnce(&mut Inputs)) -> String {
    let mut inputs = good();
    assert_eq!(inputs.check(&shape(), &bounds()), Ok(()));
    change(&mut inputs);
    inputs.check(&shape(), &bounds()).unwrap_err().to_string()
}

/// What is said after a change to an item of the second group.
fn work(change: impl FnOnce(&mut Work)) -> String {
    after(|inputs| change(&mut inputs.groups[1].work[1]))
}

#[test]
fn counts_may_fall_short_of_the_bucket() {
    let inputs = Inputs { groups: vec![GroupInputs::default(); 2], ..Inputs::default() };
    assert_eq!(inputs.check(&shape(), &bounds()), Ok(()));
    let counts = good().counts();
    assert_eq!((counts.tokens, counts.outputs), (4, 2));
}

#[test]
fn lists_have_their_lengths() {
    let many = after(|i| i.tokens.push(TokenInput::Known(0)));
    assert_eq!(many, "step input tokens: expected 4 entries, found 5");
    let outputs = after(|i| i.output_rows.push(0));
    assert_eq!(outputs, "step input output_rows: expected 2 entries, found 3");
    let positions = after(|i| i.positions.truncate(3));
    assert_eq!(positions, "step input positions: expected 4 entries, found 3");
    let groups = after(|i| drop(i.groups.pop()));
    assert_eq!(groups, "step input groups: expected 2 entries, found 1");
    let slots = after(|i| i.groups[1].slots.push(0));
    assert_eq!(slots, "step input slots.1: expected 4 entries, found 5");
    let pages = after(|i| i.groups[0].pages.extend([0; 20]));
    assert_eq!(pages, "step input pages.0: expected 40 entries, found 60");
    let part = after(|i| i.groups[0].pages.truncate(39));
    assert_eq!(part, "step input pages.0: expected 40 entries, found 39");
    let items = after(|i| i.groups[0].work.push(good().groups[0].work[0]));
    assert_eq!(items, "step input work.0: expected 3 entries, found 4");
}

#[test]
fn entries_are_in_range() {
    let token = after(|i| i.tokens[2] = TokenInput::Known(100));
    assert_eq!(token, "step input tokens[2]: expected 0 to 100 (exclusive), found 100");
    let token = after(|i| i.tokens[0] = TokenInput::Known(u32::MAX));
    assert!(token.ends_with("found 4294967295"), "{token}");
    let position = after(|i| i.positions[3] = 640);
    assert_eq!(position, "step input positions[3]: expected 0 to 640 (exclusive), found 640");
    let negative = after(|i| i.positions[0] = -1);
    assert_eq!(negative, "step input positions[0]: expected 0 to 640 (exclusive), found -1");
    let row = after(|i| i.output_rows[1] = 4);
    assert_eq!(row, "step input output_rows[1]: expected 0 to 4 (exclusive), found 4");
    // The second group's pool has 10 pages of 32, the first's 25.
    let slot = after(|i| i.groups[1].slots[0] = 320);
    assert_eq!(slot, "step input slots.1[0]: expected 0 to 320 (exclusive), found 320");
    let page = after(|i| i.groups[1].pages[39] = 10);
    assert_eq!(page, "step input pages.1[39]: expected 0 to 10 (exclusive), found 10");
    let mut inputs = good();
    inputs.groups[0].pages[39] = 24;
    inputs.groups[0].slots[0] = 799;
    assert_eq!(inputs.check(&shape(), &bounds()), Ok(()));
    inputs.groups[0].slots[0] = i32::MIN;
    assert!(matches!(
        inputs.check(&shape(), &bounds()),
        Err(InputError::Range { index: 0, limit: 800, found: -2147483648, .. })
    ));
}

#[test]
fn promised_tokens_are_the_device_s_to_check() {
    let mut inputs = good();
    inputs.tokens[1] = TokenInput::From { ticket: 9, row: 1000 };
    assert_eq!(inputs.check(&shape(), &bounds()), Ok(()));
}

#[test]
fn work_stays_within_the_step() {
    let at = |reason: &str| format!("attention work 1 of group 1: {reason}");
    assert_eq!(work(|w| w.row = 3), at("rows 3+2 of a step of 4"));
    assert_eq!(work(|w| w.row = -1), at("rows -1+2 of a step of 4"));
    assert_eq!(work(|w| w.rows = 0), at("rows 2+0 of a step of 4"));
    assert_eq!(work(|w| w.rows = i32::MAX), at("rows 2+2147483647 of a step of 4"));
    assert_eq!(work(|w| w.sequence = 2), at("page table 2 of 2"));
    assert_eq!(work(|w| w.sequence = -1), at("page table -1 of 2"));
    let positions =
        |range: &str| at(&format!("KV positions {range} of 640, from a multiple of 512"));
    assert_eq!(work(|w| w.kv_start = 32), positions("32..512"));
    assert_eq!(work(|w| w.kv_start = -512), positions("-512..512"));
    assert_eq!(work(|w| w.kv_start = 1024), positions("1024..512"));
    assert_eq!(work(|w| (w.kv_end, w.slot) = (641, -1)), positions("0..641"));
    assert_eq!(work(|w| w.kv_end = -1), positions("0..-1"));
    let partition = at("a partial result over 513 KV positions, at most 512");
    assert_eq!(work(|w| w.kv_end = 513), partition);
    assert_eq!(work(|w| w.slot = 3), at("partial slots up to 5 of 4"));
    assert_eq!(work(|w| w.slot = i32::MAX), at("partial slots up to 2147483649 of 4"));
}
