//! `embed`: the decoded row of each id. An id of −1 (the argmax of a row with a NaN, taken over
//! from an earlier step) gives a row of NaN, so that the fault stays with its sequence.

use minfer_graph::op::embed::Embed;

use super::Env;
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &Embed, ids: &Tensor<T>, env: &Env<'_>) -> Tensor<T> {
    let matrix = env.weights.matrix(op.weight);
    let row = |&id: &i32| match matrix.row(0, id) {
        Some(bytes) => matrix.decode(bytes),
        None => vec![T::NAN; matrix.cols()],
    };
    Tensor::real(matrix.cols(), ids.indices().iter().flat_map(row).collect())
}
