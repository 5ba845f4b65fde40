//! Cases of `quantize_rows`: ordinary rows, ties, zeros, and blocks with a NaN or an infinity.

use minfer_graph::Rows;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_quant::DType;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [DType::Q8_0, DType::Q8_K, DType::Q16_0] {
        let block = dtype.block_len();
        for rows in ROWS {
            let name = format!("quantize_rows.{}[{rows},{}]", dtype.name(), 3 * block);
            let mut case = CaseBuilder::new(name, tokens(rows), Tolerance::Rounding);
            let x = case.bells(Rows::TOKENS, 3 * block);
            case.op(QuantizeRows { dtype }, &[x]);
            cases.push(case.finish());
        }
        cases.push(special(dtype));
    }
    cases
}

/// Blocks: all zero; ties at .5 (the largest being 127 makes the scale 1); tiny; huge; one NaN; one
/// infinity.
fn special(dtype: DType) -> Case {
    let block = dtype.block_len();
    let mut values = vec![0.0; block];
    values.extend((0..block).map(|i| if i == 0 { 127.0 } else { i as f32 % 63.0 - 31.5 }));
    values.extend((0..block).map(|i| 1e-40 * (i as f32 - 7.0)));
    values.extend((0..block).map(|i| 3e38 * ((i % 3) as f32 - 1.0)));
    values.extend((0..block).map(|i| if i == 5 { f32::NAN } else { i as f32 }));
    values.extend((0..block).map(|i| if i == 9 { f32::NEG_INFINITY } else { i as f32 }));
    let name = format!("quantize_rows.{}[special]", dtype.name());
    let mut case = CaseBuilder::new(name, tokens(1), Tolerance::Rounding);
    let x = case.floats(Rows::TOKENS, values.len(), &values);
    case.op(QuantizeRows { dtype }, &[x]);
    case.finish()
}
