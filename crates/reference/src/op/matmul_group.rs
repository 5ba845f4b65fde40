//! `matmul_group`: one `matmul` per member, each of the operand that the member names.

use minfer_graph::op::matmul::Member;

use super::{Env, matmul};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(
    members: &[Member],
    inputs: &[Tensor<T>],
    env: &Env<'_>,
) -> Vec<Tensor<T>> {
    let member = |m: &Member| matmul::run(m.weight, m.bias, &inputs[m.operand], env);
    members.iter().map(member).collect()
}
