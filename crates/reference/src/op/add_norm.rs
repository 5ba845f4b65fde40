//! `add_norm`: `add`, then `rms_norm` of the sum; both are results.

use minfer_graph::op::add_norm::AddNorm;

use super::{Env, add, rms_norm};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    op: &AddNorm,
    a: &Tensor<T>,
    b: &Tensor<T>,
    env: &Env<'_>,
) -> Vec<Tensor<T>> {
    let sum = add::run(a, b);
    let normed = rms_norm::run(op.weight, op.eps, &sum, env);
    vec![sum, normed]
}
