//! `expert_combine`: `y = fma(weight_i, x_i, y)` in rank order from 0.

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(x: &Tensor<T>, weights: &Tensor<T>) -> Tensor<T> {
    let (cols, used) = (x.cols(), weights.cols());
    let mut y = Vec::with_capacity(x.reals().len() / used.max(1));
    for (token, weights) in weights.real_rows().enumerate() {
        for c in 0..cols {
            let term = |i: usize| x.reals()[(token * used + i) * cols + c];
            let terms = weights.iter().enumerate();
            y.push(terms.fold(T::of(0.0), |y, (i, weight)| weight.fma(term(i), y)));
        }
    }
    Tensor::real(cols, y)
}
