//! Cases of `norm_quantize`.

use minfer_graph::Rows;
use minfer_graph::op::norm_quantize::NormQuantize;
use minfer_quant::DType;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [DType::Q8_0, DType::Q8_K, DType::Q16_0] {
        for rows in ROWS {
            let cols = 3 * dtype.block_len();
            let name = format!("norm_quantize.{}[{rows},{cols}]", dtype.name());
            let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Accumulated(cols));
            let x = case.bells(Rows::TOKENS, cols);
            let weight = case.vector(cols);
            case.op(NormQuantize { weight, eps: 1e-5, dtype }, &[x]);
            cases.push(case.finish());
        }
    }
    cases
}
