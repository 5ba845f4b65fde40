//! Cases of `glu_quantize`.

use minfer_graph::Rows;
use minfer_graph::op::glu_quantize::GluQuantize;
use minfer_quant::DType;

use super::unary::FUNCTIONS;
use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [DType::Q8_0, DType::Q8_K, DType::Q16_0] {
        for function in FUNCTIONS {
            for rows in ROWS {
                let cols = 2 * dtype.block_len();
                let name =
                    format!("glu_quantize.{}.{}[{rows},{cols}]", function.name(), dtype.name());
                let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
                let gate = case.bells(Rows::TOKENS, cols);
                let up = case.bells(Rows::TOKENS, cols);
                case.op(GluQuantize { function, dtype }, &[gate, up]);
                cases.push(case.finish());
            }
        }
    }
    cases
}
