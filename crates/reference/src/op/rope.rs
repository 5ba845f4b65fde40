//! `rope`: pairs turned by `position · frequency`. The angle is f64 in both modes; canonically its
//! cosine and sine are rounded to f32, each multiplied by the magnitude, and `a' = fma(a, cos, −(b
//! · sin))`, `b' = fma(b, cos, a · sin)`.

use minfer_graph::op::rope::{Pairs, Rope};

use crate::real::Real;
use crate::tensor::Tensor;

pub(crate) fn run<T: Real>(op: &Rope, x: &Tensor<T>, positions: &Tensor<T>) -> Tensor<T> {
    let mut y = x.reals().to_vec();
    let rows = y.chunks_exact_mut(x.cols().max(1)).zip(positions.indices());
    for (row, &position) in rows {
        for (i, frequency) in op.frequencies.iter().enumerate() {
            let (sin, cos) = libm::sincos(f64::from(position) * frequency);
            let magnitude = T::widen(op.magnitude);
            let (sin, cos) = (T::of(sin) * magnitude, T::of(cos) * magnitude);
            let (first, second) = match op.pairs {
                Pairs::Interleaved => (2 * i, 2 * i + 1),
                Pairs::HalfSplit => (i, i + op.frequencies.len()),
            };
            for head in row.chunks_exact_mut(op.head_dim) {
                let (a, b) = (head[first], head[second]);
                head[first] = a.fma(cos, -(b * sin));
                head[second] = b.fma(cos, a * sin);
            }
        }
    }
    Tensor::real(x.cols(), y)
}
