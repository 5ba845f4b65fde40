//! `gate_up`: `matmul_group` of gate and up, then `glu`.

use minfer_graph::op::gate_up::GateUp;

use super::{Env, glu, matmul_group};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &GateUp, inputs: &[Tensor<T>], env: &Env<'_>) -> Tensor<T> {
    let both = matmul_group::run(&op.members, inputs, env);
    glu::run(op.function, &both[0], &both[1])
}
