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
            if is_rare(quant) {
                cases.extend([1, 2, 3, 7, 33].map(|r| case(quant, operand, [r, 19, wide], false)));
                cases.extend([7, 16].map(|outputs| case(quant, operand, [9, outputs, wide], true)));
                cases.push(case(quant, operand, [2, 10, 5 * quant.block_len()], false));
                continue;
            }
            cases.extend(ROWS.map(|rows| case(quant, operand, [rows, 19, wide], false)));
            cases.extend(OUTPUTS.map(|outputs| case(quant, operand, [1, outputs, wide], true)));
            cases.extend(OUTPUTS.map(|outputs| case(quant, operand, [9, outputs, wide], true)));
            for blocks in [1, 3, 5] {
                let cols = if quant.block_len() == 1 { blocks } else { blocks * quant.block_len() };
                cases.push(case(quant, operand, [2, 10, cols], false));
            }
        }
    }
    for quant in [Quant::F32, Quant::F16, Quant::Q8_0, Quant::Q4_K] {
        for rows in [1, 5, 9, 33] {
            let cols = if quant.block_len() == 1 { 100 } else { quant.block_len() };
            let edges = [31, 63, 64, 66, 97, 127, 128, 129, 197];
            cases
                .extend(edges.map(|outputs| case(quant, DType::F32, [rows, outputs, cols], false)));
        }
    }
    for quant in [Quant::F16, Quant::Q8_0, Quant::Q4_K] {
        for size in [1e-30, 1e-6, 1e-3, 7e4, 1e6, 1e30] {
            cases.extend([1, 35].map(|rows| range(quant, rows, &[size])));
        }
        cases.push(range(quant, 35, &[1.0, 1e6, 0.0, 6e4, 1.0, 1e-9]));
    }
    for quant in [Quant::Q8_0, Quant::Q8_K, Quant::Q6_K, Quant::Q4_K] {
        cases.extend([1, 35].map(|rows| large(quant, rows)));
    }
    cases.extend([1, 4, 33].map(|rows| case(Quant::Q4_1, DType::Q8_0, [rows, 70, 1536], false)));
    cases.extend([1, 4, 33].map(|rows| case(Quant::F16, DType::F32, [rows, 70, 1537], false)));
    cases
}

/// Formats that few files have: kernels loop over their rows and columns as they do over those of
/// others, and differ in how a block is read, which a few sizes show.
fn is_rare(quant: Quant) -> bool {
    match quant {
        Quant::IQ1_S
        | Quant::IQ1_M
        | Quant::IQ2_XXS
        | Quant::IQ2_XS
        | Quant::IQ2_S
        | Quant::IQ3_XXS
        | Quant::IQ3_S
        | Quant::NVFP4
        | Quant::TQ1_0
        | Quant::TQ2_0 => true,
        Quant::F32
        | Quant::F16
        | Quant::BF16
        | Quant::Q4_0
        | Quant::Q4_1
        | Quant::Q5_0
        | Quant::Q5_1
        | Quant::Q8_0
        | Quant::Q2_K
        | Quant::Q3_K
        | Quant::Q4_K
        | Quant::Q5_K
        | Quant::Q6_K
        | Quant::Q8_K
        | Quant::IQ4_NL
        | Quant::IQ4_XS
        | Quant::MXFP4 => false,
    }
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

/// Activations whose rows have these sizes in turn: far from 1 a kernel that keeps them in 16 bits
/// has to do something about it.
fn range(quant: Quant, rows: usize, sizes: &[f32]) -> Case {
    let cols = if quant.block_len() == 1 { 100 } else { 2 * quant.block_len() };
    let name = format!("matmul.{}.f32[{rows},19,{cols}] of {sizes:?}", quant.name());
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance(cols));
    let sizes = sizes.iter().cycle().flat_map(|&size| std::iter::repeat_n(size, cols));
    let bells = case.seeded().bells(rows * cols);
    let values: Vec<f32> = bells.into_iter().zip(sizes).map(|(v, size)| v * size).collect();
    let x = case.floats(Rows::TOKENS, cols, &values);
    let weight = case.weight(quant, [1, 19, cols], 1.0);
    case.op(Matmul::new(weight, None), &[x]);
    case.finish()
}

/// Weights above what 16 bits can hold, as their scales allow them to be.
fn large(quant: Quant, rows: usize) -> Case {
    let cols = 2 * quant.block_len();
    let name = format!("matmul.{}.f32[{rows},70,{cols}] of large weights", quant.name());
    let mut case = CaseBuilder::new(name, tokens(rows), tolerance(cols));
    let x = case.bells(Rows::TOKENS, cols);
    let weight = case.weight(quant, [1, 70, cols], 3e5);
    case.op(Matmul::new(weight, None), &[x]);
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
