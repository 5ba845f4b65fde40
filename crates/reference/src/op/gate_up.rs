//! `gate_up`: `rms_norm` where it is taken in, `matmul_group` of gate and up, then `glu`.

use minfer_graph::op::gate_up::GateUp;

use super::{Env, glu, matmul_group, rms_norm};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &GateUp, inputs: &[Tensor<T>], env: &Env<'_>) -> Tensor<T> {
    let normed =
        op.input_norm.as_ref().map(|norm| rms_norm::run(norm.weight, norm.eps, &inputs[0], env));
    let inputs = normed.as_ref().map_or(inputs, std::slice::from_ref);
    let both = matmul_group::run(&op.members, inputs, env);
    glu::run(op.function, &both[0], &both[1])
}
