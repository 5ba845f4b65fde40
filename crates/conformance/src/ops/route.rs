//! Cases of `route`: ties, all experts, one expert, many experts.

use minfer_graph::Rows;
use minfer_graph::op::route::Route;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (experts, used) in [(1, 1), (4, 1), (4, 4), (8, 2), (60, 4), (128, 8)] {
        for rows in [1, 3, 33] {
            cases.extend([true, false].map(|normalize| case(rows, experts, used, normalize)));
        }
    }
    cases.extend(ROWS.map(|rows| case(rows, 20, 3, true)));
    cases
}

fn case(rows: usize, experts: usize, used: usize, normalize: bool) -> Case {
    let name = format!("route[{rows},{used} of {experts},normalize={normalize}]");
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(used));
    // Few distinct values, so that ties occur.
    let values: Vec<f32> =
        (0..rows * experts).map(|_| (case.seeded().below(16) as f32 + 1.0) / 16.0).collect();
    let x = case.floats(Rows::TOKENS, experts, &values);
    case.op(Route { used, normalize }, &[x]);
    case.finish()
}
