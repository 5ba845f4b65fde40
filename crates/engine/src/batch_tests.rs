use minfer_graph::{KvTypes, StateDecl, StepKind, StepShape, Want, Work};
use minfer_plan::{Bounds, TokenInput};
use minfer_quant::KvType;

use super::{StepRows, inputs, windows};
use crate::kv::{GroupConfig, Groups, Tables};

fn shape() -> StepShape {
    let kv = KvTypes { key: KvType::F16, value: KvType::F16 };
    let want = Want::Logits;
    StepShape {
        tokens: 8,
        outputs: 8,
        want,
        kind: StepKind::Mixed,
        kv,
        sequences: 2,
        pages: 3,
        work: 8,
        partials: 0,
    }
}

#[test]
fn rows_become_slots_pages_and_work() {
    let configs =
        [GroupConfig { window: None, pages: 6 }, GroupConfig { window: Some(8), pages: 6 }];
    let mut groups = Groups::new(&configs, false);
    let (mut a, mut b) = (Tables::default(), Tables::default());
    groups.reserve(&mut a, 0, 40, &mut Vec::new());
    groups.reserve(&mut b, 0, 2, &mut Vec::new());
    groups.reserve(&mut a, 40, 41, &mut Vec::new());
    let rows = [
        StepRows { start: 40, tokens: &[7], outputs: &[40], tables: &a },
        StepRows { start: 0, tokens: &[8, 9], outputs: &[], tables: &b },
    ];
    let step = inputs(&rows, &shape(), &[None, Some(8)]);
    assert_eq!(step.tokens, [7, 8, 9].map(TokenInput::Known));
    assert_eq!(step.positions, [40, 0, 1]);
    assert_eq!(step.output_rows, [0]);
    assert_eq!(step.groups[0].slots, [40, 64, 65]);
    assert_eq!(step.groups[0].pages, [0, 1, 0, 2, 0, 0]);
    let work =
        |row, rows, sequence, kv_end| Work { row, rows, sequence, kv_start: 0, kv_end, slot: -1 };
    assert_eq!(step.groups[0].work, [work(0, 1, 0, 41), work(1, 2, 1, 2)]);
    // Page 0 has left the window of position 40, which sees 33 and on.
    assert_eq!(a.pages(1)[0], None);
    assert_eq!(step.groups[1].pages[1], a.pages(1)[1].map_or(-1, |page| page as i32));
    let bounds = Bounds { vocabulary: 10, context: 96, pool_pages: vec![6, 6] };
    assert_eq!(step.check(&shape(), &bounds), Ok(()));
}

#[test]
fn a_row_without_a_page_does_not_pass_the_check() {
    let tables = Tables::default();
    let rows = [StepRows { start: 0, tokens: &[1], outputs: &[], tables: &tables }];
    let step = inputs(&rows, &shape(), &[None]);
    let bounds = Bounds { vocabulary: 10, context: 96, pool_pages: vec![6] };
    assert!(step.check(&shape(), &bounds).is_err());
}

#[test]
fn windows_are_listed_by_group() {
    let state = |group, window| StateDecl::Paged {
        group,
        layer: 0,
        kv_heads: 1,
        head_dim: 32,
        key: KvType::F16,
        value: KvType::F16,
        window,
    };
    let states = [state(1, Some(4)), state(0, None), state(1, Some(4))];
    assert_eq!(windows(&states), [None, Some(4)]);
}
