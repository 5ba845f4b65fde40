//! `rms_norm`: `y = (x · inv) · w` with `inv = 1 / √(Σ x² / n + eps)`.

use minfer_graph::WeightId;

use super::Env;
use crate::canonical::dot;
use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(weight: WeightId, eps: f32, x: &Tensor<T>, env: &Env<'_>) -> Tensor<T> {
    let weight = env.weights.vector(weight);
    x.map_rows(|row| norm(row, &weight, eps))
}

/// The norm of one row (of `qk_norm`: of one head).
pub(crate) fn norm<T: Real>(row: &[T], weight: &[T], eps: f32) -> Vec<T> {
    let inv = inverse_rms(row, eps);
    row.iter().zip(weight).map(|(&x, &w)| (x * inv) * w).collect()
}

pub(crate) fn inverse_rms<T: Real>(row: &[T], eps: f32) -> T {
    let mean = dot(row, row) / T::of(row.len() as f64);
    T::of(1.0) / (mean + T::widen(eps)).sqrt()
}
