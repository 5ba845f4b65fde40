//! Cases of `kv_store`: what it stores is read back through `attention` of a query that picks out
//! one position.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::{Input, KvTypes, Rows};
use minfer_plan::SequenceRows;
use minfer_quant::KvType;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &kv in KvType::ALL {
        for head_dim in [32, 64, 96] {
            for size in [1e-6, 1.0, 1e4] {
                cases.push(case(kv, [35, 2, head_dim], size));
            }
        }
        cases.extend(ROWS.map(|rows| case(kv, [rows, 3, 32], 1.0)));
        for head_dim in [8, 24, 40, 72, 80, 120, 192, 256] {
            if kv.row_bytes(head_dim).is_ok() {
                cases.extend([1, 5].map(|heads| case(kv, [9, heads, head_dim], 1.0)));
            }
        }
    }
    cases
}

/// With a window of one position each row attends to itself alone, so the result is its stored V,
/// and any fault of K that is not finite shows.
fn case(kv: KvType, [rows, heads, head_dim]: [usize; 3], size: f32) -> Case {
    let name = format!("kv_store.{}[{rows},{heads}x{head_dim},size={size:e}]", kv.name());
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Relative(1e-6));
    let types = KvTypes { key: kv, value: kv };
    let state = case.cache([heads, head_dim], types, Some(1), rows + 5, 0);
    case.sequences(&[SequenceRows { row: 0, rows, sequence: 1, position: 3 }]);
    let values: Vec<f32> =
        case.seeded().bells(rows * heads * head_dim).iter().map(|v| v * size).collect();
    let k = case.bells(Rows::TOKENS, heads * head_dim);
    let v = case.floats(Rows::TOKENS, heads * head_dim, &values);
    let slots = case.input(Input::Slots { group: 0 });
    case.op(KvStore { state }, &[k, v, slots]);
    let q = case.bells(Rows::TOKENS, heads * head_dim);
    let positions = case.input(Input::Positions);
    let pages = case.input(Input::Pages { group: 0 });
    let work = case.input(Input::Work { group: 0 });
    let attention = Attention { state, heads, scale: 1.0, soft_cap: None, sinks: None };
    case.op(attention, &[q, positions, pages, work]);
    case.finish()
}
