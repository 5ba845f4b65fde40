//! The sequences that several ops share: exp, float sums and maxima (docs/numerics.md, "Sums" and
//! "exp").

use crate::real::Real;

/// Virtual lanes of a float sum.
pub(crate) const LANES: usize = 16;

/// Below it e^x rounds to 0, so that −∞ needs no case of its own.
const LOWEST: f32 = -104.0;
/// Above it e^x overflows.
const HIGHEST: f32 = 89.0;
/// The upper bits of ln 2: products with |n| ≤ 150 are exact.
const LN2_HI: f32 = f32::from_bits(0x3F31_7200);
/// ln 2 − LN2_HI.
const LN2_LO: f32 = f32::from_bits(0x35BF_BE8E);
/// 1/7!, 1/6!, … 1/0!.
const TAYLOR: [f32; 8] =
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0, 1.0, 1.0];

/// e^x by the project's own sequence, with an error below 2 units in the last place: `x = n ln 2 +
/// r`, `e^x = 2^n · p(r)`. The power is applied in two halves, because 2^n alone may not be a
/// normal f32.
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(LOWEST, HIGHEST);
    let n = (x * std::f32::consts::LOG2_E).round_ties_even();
    let r = n.mul_add(-LN2_HI, x);
    let r = n.mul_add(-LN2_LO, r);
    let p = TAYLOR[1..].iter().fold(TAYLOR[0], |p, &term| p.mul_add(r, term));
    let n = n as i32;
    let half = n >> 1;
    (p * power_of_two(half)) * power_of_two(n - half)
}

/// 2^n for n within the normal numbers.
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((127 + n) as u32) << 23)
}

/// The float dot product of two rows of one length.
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    debug_assert_eq!(a.len(), b.len());
    let mut lanes = [T::of(0.0); LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane = a.fma(b, *lane);
        }
    }
    tree(lanes)
}

/// The float sum of a row.
pub(crate) fn sum<T: Real>(terms: &[T]) -> T {
    let mut lanes = [T::of(0.0); LANES];
    for terms in terms.chunks(LANES) {
        for (lane, &term) in lanes.iter_mut().zip(terms) {
            *lane = *lane + term;
        }
    }
    tree(lanes)
}

fn tree<T: Real>(mut lanes: [T; LANES]) -> T {
    let mut step = LANES / 2;
    while step > 0 {
        for i in 0..step {
            lanes[i] = lanes[i] + lanes[i + step];
        }
        step /= 2;
    }
    lanes[0]
}

/// The largest of a row; NaN is passed over, since whatever is made of such a row turns NaN by the
/// NaN itself.
pub(crate) fn max<T: Real>(row: &[T]) -> T {
    row.iter().fold(T::of(f64::NEG_INFINITY), |max, &x| max.max(x))
}

#[cfg(test)]
mod tests;
