//! Comparing results, with tolerances that have names.

/// How far a result may be from the one it is held to (docs/numerics.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// The same bits; any NaN for a NaN, either zero for a zero.
    Exact,
    /// A few units in the last place of the largest element.
    Rounding,
    /// A sum of k terms, rounded at each: grows with √k.
    Accumulated(usize),
    /// Relative to the largest element; for ops that round activations or cached values to fewer
    /// bits.
    Relative(f32),
}

impl Tolerance {
    /// The largest allowed difference, as a share of the largest element.
    fn share(self) -> f64 {
        let unit = f64::from(f32::EPSILON) / 2.0;
        match self {
            Tolerance::Exact => 0.0,
            Tolerance::Rounding => 8.0 * unit,
            Tolerance::Accumulated(terms) => 16.0 * (terms.max(1) as f64).sqrt() * unit,
            Tolerance::Relative(share) => f64::from(share),
        }
    }
}

/// The worst place of two results that differ too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Index of the element.
    pub index: usize,
    /// What was expected there.
    pub expected: f32,
    /// What was found.
    pub found: f32,
    /// The difference allowed.
    pub allowed: f64,
}

/// Compares f32 results; gives the worst element out of tolerance. Lengths must agree.
pub fn compare(expected: &[f32], found: &[f32], tolerance: Tolerance) -> Option<Difference> {
    let largest =
        expected.iter().filter(|v| v.is_finite()).fold(0.0f64, |m, v| m.max(f64::from(v.abs())));
    let allowed = largest * tolerance.share();
    let mut worst: Option<(f64, Difference)> = None;
    for (index, (&e, &f)) in expected.iter().zip(found).enumerate() {
        let distance = distance(e, f);
        let over = distance > allowed || distance.is_nan();
        let worse = worst.is_none_or(|(known, _)| distance > known);
        if over && worse {
            worst = Some((distance, Difference { index, expected: e, found: f, allowed }));
        }
    }
    worst.map(|(_, difference)| difference)
}

/// Distance between two floats: none between two NaNs or equal values, infinite between a NaN or an
/// infinity and anything else.
fn distance(a: f32, b: f32) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    if !a.is_finite() || !b.is_finite() {
        return f64::INFINITY;
    }
    (f64::from(a) - f64::from(b)).abs()
}
