//! Cases of `rope`: both layouts, partly turned heads, magnitudes, positions near and far.

use minfer_graph::Rows;
use minfer_graph::op::rope::{Pairs, Rope};

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

/// Columns of a head, and pairs of them that are turned.
const HEADS: [(usize, usize); 12] = [
    (2, 1),
    (8, 4),
    (16, 5),
    (40, 20),
    (64, 32),
    (72, 36),
    (80, 20),
    (96, 48),
    (120, 60),
    (128, 64),
    (192, 96),
    (256, 128),
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for pairs in [Pairs::Interleaved, Pairs::HalfSplit] {
        for (head_dim, turned) in HEADS {
            for (rows, heads) in [(1, 1), (1, 9), (5, 3), (33, 2)] {
                cases.push(case(pairs, head_dim, turned, rows, heads));
            }
        }
        cases.extend(ROWS.map(|rows| case(pairs, 40, 20, rows, 5)));
    }
    cases
}

pub(super) fn rope_of(pairs: Pairs, head_dim: usize, turned: usize) -> Rope {
    let frequencies = (0..turned).map(|i| 10_000f64.powf(-2.0 * i as f64 / head_dim as f64));
    let magnitude = if head_dim == 96 { 1.138 } else { 1.0 };
    Rope { head_dim, pairs, frequencies: frequencies.collect(), magnitude }
}

fn case(pairs: Pairs, head_dim: usize, turned: usize, rows: usize, heads: usize) -> Case {
    let name = format!("rope.{pairs:?}[{rows},{heads}x{head_dim},{turned} pairs]").to_lowercase();
    let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
    let x = case.bells(Rows::TOKENS, heads * head_dim);
    let positions: Vec<i32> = (0..rows).map(|i| [0, 1, 31, 8191, 131_071][i % 5]).collect();
    let positions = case.positions(&positions);
    case.op(rope_of(pairs, head_dim, turned), &[x, positions]);
    case.finish()
}
