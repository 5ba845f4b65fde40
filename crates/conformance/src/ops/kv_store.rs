//! Cases of `kv_store`: what it stores is read back through `attention` of a query that picks out
//! one position.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::{Input, KvTypes, Rows};
use minfer_plan::SequenceRows;
use minfer_quant::KvType;

use super::tokens;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &kv in KvType::ALL {
        for head_dim in [32, 64, 96] {
            for size in [1e-6, 1.0, 1e4] {
                cases.push(case(kv, head_dim, size));
            }
        }
    }
    cases.push(case(KvType::F16, 24, 1.0));
    cases
}

/// With a window of one position each row attends to itself alone, so the result is its stored V,
/// and any fault of K that is not finite shows.
fn case(kv: KvType, head_dim: usize, size: f32) -> Case {
    let rows = 35;
    let name = format!("kv_store.{}[{rows},2x{head_dim},size={size:e}]", kv.name());
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Relative(1e-6));
    let types = KvTypes { key: kv, value: kv };
    let state = case.cache([2, head_dim], types, Some(1), 40, 0);
    case.sequences(&[SequenceRows { row: 0, rows, sequence: 1, position: 3 }]);
    let values: Vec<f32> =
        case.seeded().bells(rows * 2 * head_dim).iter().map(|v| v * size).collect();
    let k = case.bells(Rows::TOKENS, 2 * head_dim);
    let v = case.floats(Rows::TOKENS, 2 * head_dim, &values);
    let slots = case.input(Input::Slots { group: 0 });
    case.op(KvStore { state }, &[k, v, slots]);
    let q = case.bells(Rows::TOKENS, 2 * head_dim);
    let positions = case.input(Input::Positions);
    let pages = case.input(Input::Pages { group: 0 });
    let work = case.input(Input::Work { group: 0 });
    let attention = Attention { state, heads: 2, scale: 1.0, soft_cap: None, sinks: None };
    case.op(attention, &[q, positions, pages, work]);
    case.finish()
}
