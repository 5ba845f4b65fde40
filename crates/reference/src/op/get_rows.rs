//! `get_rows`: `y[o] = x[rows[o]]`.

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(x: &Tensor<T>, rows: &Tensor<T>) -> Tensor<T> {
    let cols = x.cols();
    let row = |&row: &i32| &x.reals()[row as usize * cols..][..cols];
    Tensor::real(cols, rows.indices().iter().flat_map(row).copied().collect())
}
