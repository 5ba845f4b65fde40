//! `expert_gate_up`: `expert_matmul` of gate and of up, then `glu`.

use minfer_graph::op::expert_gate_up::ExpertGateUp;
use minfer_graph::op::expert_matmul::ExpertMatmul;

use super::{Env, expert_matmul, glu};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    op: &ExpertGateUp,
    x: &Tensor<T>,
    experts: &Tensor<T>,
    env: &Env<'_>,
) -> Tensor<T> {
    let product = |weight| expert_matmul::run(&ExpertMatmul { weight }, x, experts, env);
    glu::run(op.function, &product(op.gate), &product(op.up))
}
