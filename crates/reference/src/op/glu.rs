//! `glu`: `y = function(gate) · up`, by `unary` and `mul`.

use minfer_graph::Activation;

use super::{mul, unary};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(function: Activation, gate: &Tensor<T>, up: &Tensor<T>) -> Tensor<T> {
    mul::run(&unary::run(function, gate), up)
}
