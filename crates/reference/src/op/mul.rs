//! `mul`: `y = a · b`.

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(a: &Tensor<T>, b: &Tensor<T>) -> Tensor<T> {
    a.zip(b, |a, b| a * b)
}
