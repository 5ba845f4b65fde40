//! `matmul_add`: `matmul`, then `add` of the residual.

use minfer_graph::op::matmul_add::MatmulAdd;

use super::{Env, add, matmul};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    op: &MatmulAdd,
    x: &Tensor<T>,
    residual: &Tensor<T>,
    env: &Env<'_>,
) -> Tensor<T> {
    let product = matmul::run(op.weight, op.bias, x, env);
    add::run(&product, residual)
}
