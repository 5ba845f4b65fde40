//! Choosing scales: extremes of a block, and the small searches that encoders share.
//!
//! Inputs are finite and at most 65504 in magnitude (`Quant::encode` checks), so sums of squares of
//! 256 of them stay finite in `f32`.

/// The largest magnitude.
pub(crate) fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, x| x.abs().max(peak))
}

/// The value of largest magnitude, with its sign; the first of equals.
pub(crate) fn signed_peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak: f32, &x| if x.abs() > peak.abs() { x } else { peak })
}

/// Smallest and largest value of a block that is not empty.
pub(crate) fn min_max(values: &[f32]) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    values.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)))
}

/// The scale s that makes `s * q`, q in -levels..levels, come closest to `values` (least squares
/// weighted by x^2), among a few that place the peak between `levels - 1` and `levels + 1` steps.
///
/// For fixed q the best scale is sum(w x q) / sum(w q q), and then the gain over s = 0 is
/// sum(w x q)^2 / sum(w q q): the candidate of greatest gain wins.
pub(crate) fn best_symmetric(values: &[f32], levels: i32) -> f32 {
    let peak = signed_peak(values);
    let (mut best, mut best_gain) = (0.0, 0.0);
    if peak == 0.0 {
        return best;
    }
    for step in -9..=9 {
        let inverse = -(levels as f32 + 0.1 * step as f32) / peak;
        let (mut xq, mut qq) = (0.0, 0.0);
        for &x in values {
            let q = quantize(x * inverse, levels);
            let normal = x / peak;
            let weight = normal * normal;
            xq += weight * normal * q;
            qq += weight * q * q;
        }
        if qq > 0.0 && xq * xq > best_gain * qq {
            best_gain = xq * xq / qq;
            best = xq / qq * peak;
        }
    }
    best
}

/// Nearest level of a signed grid.
fn quantize(x: f32, levels: i32) -> f32 {
    x.round_ties_even().clamp(-levels as f32, (levels - 1) as f32)
}
