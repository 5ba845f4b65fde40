//! `expert_matmul`: `y[t·k + i] = x[t or t·k + i] · W[experts[t, i]]ᵀ`, each by `matmul`'s dot
//! product.

use minfer_graph::op::expert_matmul::ExpertMatmul;

use super::Env;
use super::matmul::{Rows, multiply};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    op: &ExpertMatmul,
    x: &Tensor<T>,
    experts: &Tensor<T>,
    env: &Env<'_>,
) -> Tensor<T> {
    let matrix = env.weights.matrix(op.weight);
    let rows = Rows::of(x);
    // One row of x for each expert of a token, or one for all of them.
    let per_row = experts.indices().len() / rows.len().max(1);
    let product = |(i, &expert): (usize, &i32)| {
        multiply(&matrix, expert, &rows.only(i / per_row), env.threads)
    };
    let y = experts.indices().iter().enumerate().flat_map(product);
    Tensor::real(matrix.rows(), y.collect())
}
