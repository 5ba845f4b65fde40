//! `unary`: silu, gelu (tanh form) and soft cap of each element.

use minfer_graph::Activation;

use crate::real::Real;
use crate::tensor::Tensor;

/// 2 √(2/π).
const C1: f64 = 1.595_769_121_605_730_7;
/// C1 · 0.044715.
const C3: f64 = 0.071_354_816_272_600_27;

pub(crate) fn run<T: Real>(function: Activation, x: &Tensor<T>) -> Tensor<T> {
    x.map(|x| apply(function, x))
}

pub(crate) fn apply<T: Real>(function: Activation, x: T) -> T {
    match function {
        Activation::Silu => x / (T::of(1.0) + (-x).exp()),
        Activation::Gelu => {
            let t = x * T::of(C3).fma(x * x, T::of(C1));
            x / (T::of(1.0) + (-t).exp())
        }
        Activation::SoftCap(cap) => soft_cap(T::widen(cap), x),
    }
}

/// `cap · tanh(x / cap)` by way of exp.
pub(crate) fn soft_cap<T: Real>(cap: T, x: T) -> T {
    let (one, two) = (T::of(1.0), T::of(2.0));
    cap * (one - two / ((two * (x / cap)).exp() + one))
}
