//! `qkv`: `rms_norm` where it is taken in, `matmul_group`, `qk_norm` of q and k where the model has
//! it, `rope` of both, `kv_store`; gives q.

use minfer_graph::op::qkv::Qkv;

use super::{Env, kv_store, matmul_group, qk_norm, rms_norm, rope};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &Qkv, inputs: &[Tensor<T>], env: &mut Env<'_>) -> Tensor<T> {
    let [activations @ .., positions, slots] = inputs else {
        unreachable!("verified: activations, positions and slots");
    };
    let normed = op
        .input_norm
        .as_ref()
        .map(|norm| rms_norm::run(norm.weight, norm.eps, &activations[0], env));
    let activations = normed.as_ref().map_or(activations, std::slice::from_ref);
    let mut projected = matmul_group::run(&op.members, activations, env);
    for (norm, x) in op.norms.iter().flatten().zip(&mut projected) {
        *x = qk_norm::run(norm, x, env);
    }
    let q = rope::run(&op.rope, &projected[0], positions);
    let k = rope::run(&op.rope, &projected[1], positions);
    kv_store::run(op.state, [&k, &projected[2], slots], env);
    q
}
