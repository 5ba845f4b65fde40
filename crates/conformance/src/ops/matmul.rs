//! Cases of `matmul`: every format with float and with quantized activations, rows of activations
//! and of the weight on and beside tiles, with and without a bias.

use minfer_graph::op::matmul::Matmul;
use minfer_graph::op::quantize_rows::QuantizeRows;
use minfer_graph::{Rows, ValueId};
use minfer_quant::{DType, Quant};

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

/// Weight rows on and beside the groups that kernels take at once.
const OUTPUTS: [usize; 12] = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 33, 65];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for &quant in Quant::ALL {
        for operand in DType::ALL.iter().copied().filter(|dtype| quant.takes(*dtype)) {
            let wide = if quant.block_len() == 1 { 100 } else { 2 * quant.block_len() };
            cases.extend(ROWS.map(|rows| case(quant, operand, [rows, 19, wide], false)));
            cases.extend(OUTPUTS.map(|outputs| case(quant, operand, [1, outputs, wide], true)));
            cases.extend(OUTPUTS.map(|outputs| case(quant, operand, [9, outputs, wide], true)));
            for blocks in [1, 3, 5] {
                let cols = if quant.block_len() == 1 { blocks } else { blocks * quant.block_len() };
                cases.push(case(quant, operand, [2, 10, cols], false));
            }
        }
    }
    cases.extend([1, 4, 33].map(|rows| case(Quant::Q4_1, DType::Q8_0, [rows, 70, 1536], false)));
    cases.extend([1, 4, 33].map(|rows| case(Quant::F16, DType::F32, [rows, 70, 1537], false)));
    cases
}

fn case(quant: Quant, operand: DType, [rows, outputs, cols]: [usize; 3], bias: bool) -> Case {
    let suffix = if bias { "+bias" } else { "" };
    let name =
        format!("matmul.{}.{}[{rows},{outputs},{cols}]{suffix}", quant.name(), operand.name());
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance(cols));
    let x = operand_of(&mut case, operand, Rows::TOKENS, cols);
    let weight = case.weight(quant, [1, outputs, cols], 1.0);
    let bias = bias.then(|| case.vector(outputs));
    case.op(Matmul::new(weight, bias), &[x]);
    case.finish()
}

/// Activations of a type: floats, or floats quantized by a node of their own.
pub(super) fn operand_of(case: &mut CaseBuilder, dtype: DType, rows: Rows, cols: usize) -> ValueId {
    let x = case.bells(rows, cols);
    if dtype == DType::F32 { x } else { case.node(QuantizeRows { dtype }, &[x])[0] }
}

/// Both definitions start from the same quantized rows, so only the sums' roundings differ.
pub(super) fn tolerance(cols: usize) -> Tolerance {
    Tolerance::Accumulated(4 * cols)
}
