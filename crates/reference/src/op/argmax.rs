//! `argmax`: the column of a row's largest element, the lowest among equals; −1 for a row with a
//! NaN.

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(x: &Tensor<T>) -> Tensor<T> {
    Tensor::index(1, x.real_rows().map(column).collect())
}

fn column<T: Real>(row: &[T]) -> i32 {
    if row.iter().any(|x| x.is_nan()) {
        return -1;
    }
    let larger = |best: usize, column: usize| if row[column] > row[best] { column } else { best };
    (0..row.len()).reduce(larger).map_or(-1, |column| column as i32)
}
