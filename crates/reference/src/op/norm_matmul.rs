//! `norm_matmul`: `a_k = x_k · w_k`, the float dot product of a and the matrix row, times the
//! norm's `inv`; then the bias. It rounds otherwise than `rms_norm` and `matmul_group`, which is
//! why a device has to ask for it.

use minfer_graph::op::matmul::Member;
use minfer_graph::op::norm_matmul::NormMatmul;

use super::Env;
use super::matmul::{Rows, multiply};
use super::rms_norm::inverse_rms;
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &NormMatmul, x: &Tensor<T>, env: &Env<'_>) -> Vec<Tensor<T>> {
    let weight: Vec<T> = env.weights.vector(op.weight);
    let inverses: Vec<T> = x.real_rows().map(|row| inverse_rms(row, op.eps)).collect();
    let weighted = x.map_rows(|row| row.iter().zip(&weight).map(|(&x, &w)| x * w).collect());
    let rows = Rows::of(&weighted);
    let member = |member: &Member| {
        let matrix = env.weights.matrix(member.weight);
        let mut y = multiply(&matrix, 0, &rows, env.threads);
        let bias: Option<Vec<T>> = member.bias.map(|bias| env.weights.vector(bias));
        for (row, &inv) in y.chunks_exact_mut(matrix.rows().max(1)).zip(&inverses) {
            for (n, y) in row.iter_mut().enumerate() {
                *y = *y * inv;
                if let Some(bias) = &bias {
                    *y = *y + bias[n];
                }
            }
        }
        Tensor::real(matrix.rows(), y)
    };
    op.members.iter().map(member).collect()
}
