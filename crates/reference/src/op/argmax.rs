//! `argmax`: the column of a row's largest element, the lowest among equals; −1 for a row with a NaN.

use super::top_k::largest;
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(x: &Tensor<T>) -> Tensor<T> {
    let column = |row: &[T]| largest(row, 1).map_or(-1, |columns| columns[0] as i32);
    Tensor::index(1, x.real_rows().map(column).collect())
}
