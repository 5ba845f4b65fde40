//! Cases of `top_k`: ties, all elements, one element.

use minfer_graph::op::top_k::TopK;
use minfer_graph::{Counts, Rows};

use super::ROWS;
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let case = |(rows, cols, k): (usize, usize, usize)| {
        let counts = Counts { tokens: 1, outputs: rows };
        let name = format!("top_k[{rows},{k} of {cols}]");
        let mut case = CaseBuilder::new(name, counts, Tolerance::Exact);
        let values: Vec<f32> =
            (0..rows * cols).map(|_| case.seeded().below(40) as f32 - 20.0).collect();
        let x = case.floats(Rows::OUTPUTS, cols, &values);
        case.op(TopK { k }, &[x]);
        case.finish()
    };
    let widths = [(1, 1), (7, 7), (64, 1), (65, 40), (1000, 40), (49_152, 20)];
    let widths = widths.into_iter().map(|(cols, k)| (3, cols, k));
    widths.chain(ROWS.map(|rows| (rows, 70, 5))).map(case).collect()
}
