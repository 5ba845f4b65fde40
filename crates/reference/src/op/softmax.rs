//! `softmax`: `y = e / Σ e` with `e = exp(x − m)` and m the row's maximum.

use crate::canonical::{max, sum};
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(x: &Tensor<T>) -> Tensor<T> {
    x.map_rows(|row| {
        let m = max(row);
        let e: Vec<T> = row.iter().map(|&x| (x - m).exp()).collect();
        let total = sum(&e);
        e.iter().map(|&e| e / total).collect()
    })
}
