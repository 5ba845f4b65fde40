//! Cases of `get_rows`.

use minfer_graph::op::get_rows::GetRows;
use minfer_graph::{Counts, Rows};

use super::ROWS;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for cols in [1, 7, 64, 65] {
        for rows in [&[0][..], &[4], &[4, 0, 2], &[0, 1, 2, 3, 4]] {
            let name = format!("get_rows[{rows:?},{cols}]");
            cases.push(case(name, 5, rows, cols));
        }
    }
    for count in ROWS {
        // Backwards over as many tokens, and two that are not asked for.
        let rows: Vec<i32> = (0..count as i32).rev().map(|row| row + 1).collect();
        cases.push(case(format!("get_rows[{count} of {}]", count + 2), count + 2, &rows, 70));
    }
    cases
}

fn case(name: String, tokens: usize, rows: &[i32], cols: usize) -> Case {
    let counts = Counts { tokens, outputs: rows.len() };
    let mut case = CaseBuilder::new(name, counts, Tolerance::Exact);
    let x = case.bells(Rows::TOKENS, cols);
    let rows = case.output_rows(rows);
    case.op(GetRows, &[x, rows]);
    case.finish()
}
