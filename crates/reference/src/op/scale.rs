//! `scale`: `y = factor · x`.

use minfer_graph::op::scale::Scale;

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &Scale, x: &Tensor<T>) -> Tensor<T> {
    x.map(|x| x * T::widen(op.factor))
}
