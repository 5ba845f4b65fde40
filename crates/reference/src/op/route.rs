//! `route`: the experts of the largest probabilities, the lower expert first among equals, and
//! their weights. A row with a NaN has no largest: it gives experts 0, 1, … with weights of NaN.

use minfer_graph::op::route::Route;

use super::top_k::largest;
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &Route, x: &Tensor<T>) -> Vec<Tensor<T>> {
    let (mut experts, mut weights) = (Vec::new(), Vec::new());
    for row in x.real_rows() {
        let Some(chosen) = largest(row, op.used) else {
            experts.extend(0..op.used as i32);
            weights.extend(std::iter::repeat_n(T::NAN, op.used));
            continue;
        };
        let chosen_weights = chosen.iter().map(|&expert| row[expert]);
        let sum = chosen_weights.clone().reduce(|sum, w| sum + w);
        let divisor = sum.filter(|_| op.normalize);
        weights.extend(chosen_weights.map(|w| divisor.map_or(w, |sum| w / sum)));
        experts.extend(chosen.iter().map(|&expert| expert as i32));
    }
    vec![Tensor::index(op.used, experts), Tensor::real(op.used, weights)]
}
