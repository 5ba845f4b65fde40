//! Cases of `top_k`: ties, all elements, one element.

use minfer_graph::op::top_k::TopK;
use minfer_graph::{Counts, Rows};

use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let counts = Counts { tokens: 1, outputs: 3 };
    let case = |(cols, k): (usize, usize)| {
        let name = format!("top_k[3,{k} of {cols}]");
        let mut case = CaseBuilder::new(name, counts, Tolerance::Exact);
        let values: Vec<f32> =
            (0..3 * cols).map(|_| case.seeded().below(40) as f32 - 20.0).collect();
        let x = case.floats(Rows::OUTPUTS, cols, &values);
        case.op(TopK { k }, &[x]);
        case.finish()
    };
    [(1, 1), (7, 7), (64, 1), (65, 40), (1000, 40), (49_152, 20)].into_iter().map(case).collect()
}
