//! Cases of `expert_combine`.

use minfer_graph::op::expert_combine::ExpertCombine;
use minfer_graph::{Counts, Rows};

use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for base in [Rows::TOKENS, Rows::OUTPUTS] {
        for (rows, used) in [(1, 1), (1, 8), (3, 2), (17, 4)] {
            for cols in [1, 9, 64, 65] {
                let name = format!("expert_combine[{base}={rows},{used},{cols}]");
                let counts = Counts { tokens: rows, outputs: rows };
                let mut case = CaseBuilder::new(name, counts, Tolerance::Accumulated(used));
                let x = case.bells(base.times(used), cols);
                let weights = case.bells(base, used);
                case.op(ExpertCombine, &[x, weights]);
                cases.push(case.finish());
            }
        }
    }
    cases
}
