//! `norm_quantize`: `rms_norm`, then `quantize_rows`.

use minfer_graph::op::norm_quantize::NormQuantize;

use super::{Env, quantize_rows, rms_norm};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &NormQuantize, x: &Tensor<T>, env: &Env<'_>) -> Tensor<T> {
    quantize_rows::run(op.dtype, &rms_norm::run(op.weight, op.eps, x, env))
}
