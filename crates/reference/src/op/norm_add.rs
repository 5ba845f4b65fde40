//! `norm_add`: `rms_norm`, then `add` of the residual.

use minfer_graph::op::norm_add::NormAdd;

use super::{Env, add, rms_norm};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    op: &NormAdd,
    x: &Tensor<T>,
    residual: &Tensor<T>,
    env: &Env<'_>,
) -> Tensor<T> {
    let normed = rms_norm::run(op.weight, op.eps, x, env);
    add::run(&normed, residual)
}
