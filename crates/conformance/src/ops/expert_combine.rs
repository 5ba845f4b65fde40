//! Cases of `expert_combine`.

use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::{Counts, Rows};

use super::ROWS;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for base in [Rows::TOKENS, Rows::OUTPUTS] {
        for (rows, used) in [(1, 1), (1, 8), (3, 2), (17, 4)] {
            cases.extend([1, 9, 64, 65].map(|cols| case(base, rows, used, cols)));
        }
    }
    cases.extend(ROWS.map(|rows| case(Rows::TOKENS, rows, 3, 70)));
    cases
}

fn case(base: Rows, rows: usize, used: usize, cols: usize) -> Case {
    let name = format!("expert_combine[{base}={rows},{used},{cols}]");
    let counts = Counts { tokens: rows, outputs: rows };
    let mut case = CaseBuilder::new(name, counts, Tolerance::Accumulated(used));
    let x = case.bells(base.times(used), cols);
    let weights = case.bells(base, used);
    case.op(ExpertCombine, &[x, weights]);
    case.finish()
}
