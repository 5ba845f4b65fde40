//! `qk_norm`: `rms_norm` of each head's part of a row.

use minfer_graph::op::qk_norm::QkNorm;

use super::{Env, rms_norm};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &QkNorm, x: &Tensor<T>, env: &Env<'_>) -> Tensor<T> {
    let weight: Vec<T> = env.weights.vector(op.weight);
    let heads = |row: &[T]| -> Vec<T> {
        let heads = row.chunks_exact(op.head_dim);
        heads.flat_map(|head| rms_norm::norm(head, &weight, op.eps)).collect()
    };
    x.map_rows(heads)
}
