//! `glu_quantize`: `glu`, then `quantize_rows`.

use minfer_graph::op::glu_quantize::GluQuantize;

use super::{glu, quantize_rows};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &GluQuantize, gate: &Tensor<T>, up: &Tensor<T>) -> Tensor<T> {
    quantize_rows::run(op.dtype, &glu::run(op.function, gate, up))
}
