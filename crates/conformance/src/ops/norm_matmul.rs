//! Cases of `norm_matmul`.

use minfer_graph::Rows;
use minfer_graph::op::matmul::Member;
use minfer_graph::op::norm_matmul::NormMatmul;
use minfer_quant::Quant;

use super::matmul::tolerance;
use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for quant in [Quant::F32, Quant::F16, Quant::Q4_1, Quant::Q6_K] {
        for rows in ROWS {
            let name = format!("norm_matmul.{}[{rows},19,256]", quant.name());
            let mut case = CaseBuilder::new(name, tokens(rows), tolerance(256));
            let x = case.bells(Rows::TOKENS, 256);
            let norm = case.vector(256);
            let weight = case.weight(quant, [1, 19, 256], 1.0);
            let members = vec![Member::new(weight, None)];
            case.op(NormMatmul { weight: norm, eps: 1e-5, members }, &[x]);
            cases.push(case.finish());
        }
    }
    cases
}
