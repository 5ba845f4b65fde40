//! Cases of `get_rows`.

use minfer_graph::op::get_rows::GetRows;
use minfer_graph::{Counts, Rows};

use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for cols in [1, 7, 64, 65] {
        for rows in [&[0][..], &[4], &[4, 0, 2], &[0, 1, 2, 3, 4]] {
            let name = format!("get_rows[{rows:?},{cols}]");
            let counts = Counts { tokens: 5, outputs: rows.len() };
            let mut case = CaseBuilder::new(name, counts, Tolerance::Exact);
            let x = case.bells(Rows::TOKENS, cols);
            let rows = case.output_rows(rows);
            case.op(GetRows, &[x, rows]);
            cases.push(case.finish());
        }
    }
    cases
}
