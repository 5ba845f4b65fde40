//! The cases of each op, in a file of the op's name.

mod add;
mod add_norm;
mod argmax;
mod attention;
mod embed;
mod expert_combine;
mod expert_gate_up;
mod expert_matmul;
mod gate_up;
mod get_rows;
mod glu;
mod glu_quantize;
mod kv_store;
mod matmul;
mod matmul_add;
mod matmul_group;
mod mul;
mod norm_add;
mod norm_matmul;
mod norm_quantize;
mod qk_norm;
mod qkv;
mod quantize_rows;
mod rms_norm;
mod rope;
mod route;
mod scale;
mod softmax;
mod top_k;
mod unary;

use minfer_graph::{Counts, OpKind};
use minfer_quant::{DType, Quant};

use crate::case::Case;

/// The cases of one op.
pub fn cases(op: OpKind) -> Vec<Case> {
    match op {
        OpKind::Embed => embed::cases(),
        OpKind::GetRows => get_rows::cases(),
        OpKind::QuantizeRows => quantize_rows::cases(),
        OpKind::Matmul => matmul::cases(),
        OpKind::MatmulGroup => matmul_group::cases(),
        OpKind::Add => add::cases(),
        OpKind::Mul => mul::cases(),
        OpKind::Scale => scale::cases(),
        OpKind::Unary => unary::cases(),
        OpKind::RmsNorm => rms_norm::cases(),
        OpKind::QkNorm => qk_norm::cases(),
        OpKind::Rope => rope::cases(),
        OpKind::KvStore => kv_store::cases(),
        OpKind::Attention => attention::cases(),
        OpKind::Softmax => softmax::cases(),
        OpKind::Route => route::cases(),
        OpKind::ExpertMatmul => expert_matmul::cases(),
        OpKind::ExpertCombine => expert_combine::cases(),
        OpKind::Argmax => argmax::cases(),
        OpKind::TopK => top_k::cases(),
        OpKind::Glu => glu::cases(),
        OpKind::AddNorm => add_norm::cases(),
        OpKind::NormQuantize => norm_quantize::cases(),
        OpKind::GluQuantize => glu_quantize::cases(),
        OpKind::NormMatmul => norm_matmul::cases(),
        OpKind::NormAdd => norm_add::cases(),
        OpKind::MatmulAdd => matmul_add::cases(),
        OpKind::Qkv => qkv::cases(),
        OpKind::GateUp => gate_up::cases(),
        OpKind::ExpertGateUp => expert_gate_up::cases(),
    }
}

/// The cases of all ops.
pub fn all() -> Vec<Case> {
    OpKind::ALL.iter().flat_map(|&op| cases(op)).collect()
}

/// Token rows that sit on and beside the tiles of kernels.
const ROWS: [usize; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 97, 197];

/// Columns that sit on and beside vector widths; for ops that take any number.
const COLS: [usize; 12] = [1, 3, 7, 8, 9, 15, 16, 17, 33, 64, 100, 257];

/// Steps of token rows alone.
fn tokens(tokens: usize) -> Counts {
    Counts { tokens, outputs: 0 }
}

/// Pairs of rows and columns: every column count at two rows, every row count at one odd width.
fn shapes() -> Vec<(usize, usize)> {
    let by_cols = COLS.iter().flat_map(|&cols| [(1, cols), (3, cols)]);
    by_cols.chain(ROWS.iter().map(|&rows| (rows, 70))).collect()
}

/// The quantized type in which a weight's format takes activations, if it takes any.
fn quantized_operand(quant: Quant) -> Option<DType> {
    Some(quant.activations()).filter(|&dtype| dtype != DType::F32)
}
