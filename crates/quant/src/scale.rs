//! Choosing scales: extremes of a block, and the fits that the encoders of 256-value blocks share.
//!
//! Inputs are finite and at most 65504 in magnitude (`Quant::encode` sees to it), so that sums of
//! squares stay finite in `f32`.

use crate::float::{inverse, nearest};

/// Values in a block of the K formats.
pub(crate) const K_LEN: usize = 256;

/// The largest magnitude.
#[inline]
pub(crate) fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, x| x.abs().max(peak))
}

/// The value of largest magnitude, with its sign; the first of equals.
#[inline]
pub(crate) fn signed_peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak: f32, &x| if x.abs() > peak.abs() { x } else { peak })
}

/// Smallest and largest value.
#[inline]
pub(crate) fn min_max(values: &[f32]) -> (f32, f32) {
    let start = (f32::INFINITY, f32::NEG_INFINITY);
    values.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)))
}

/// 16 groups of 16 values, each `x = (d * scale) * q` with q in -levels..levels.
pub(crate) struct Symmetric {
    /// The block's scale, already rounded to `f16`.
    pub(crate) d: f32,
    /// The groups' scales in units of `d`.
    pub(crate) scales: [i8; 16],
    /// q + levels of each value.
    pub(crate) q: [u8; K_LEN],
}

impl Symmetric {
    /// Fits each group by itself; `d` maps the largest scale to `-scale_levels`, so that the whole
    /// range -scale_levels..scale_levels of a sub-scale is used.
    pub(crate) fn fit(values: &[f32; K_LEN], levels: u8, scale_levels: u8) -> Self {
        let (levels, scale_levels) = (f32::from(levels), f32::from(scale_levels));
        let groups = values.as_chunks::<16>().0;
        let mut fits = [0.0; 16];
        for (fit, group) in fits.iter_mut().zip(groups) {
            *fit = best_symmetric(group, levels);
        }
        let d = half::f16::from_f32(signed_peak(&fits) / -scale_levels).to_f32();
        let d_inverse = inverse(d);
        let scales =
            fits.map(|fit| nearest(fit * d_inverse, -scale_levels, scale_levels - 1.0) as i8);
        let mut q = [0; K_LEN];
        for (g, (q, group)) in q.as_chunks_mut().0.iter_mut().zip(groups).enumerate() {
            let steps = inverse(d * f32::from(scales[g]));
            *q = group.map(|x| nearest(x * steps + levels, 0.0, 2.0 * levels - 1.0) as u8);
        }
        Self { d, scales, q }
    }
}

/// The scale s for which `s * q`, q in -levels..levels, comes closest to `values` (least squares,
/// weighted by x^2) among 19 that put the peak between `levels - 0.9` and `levels + 0.9` steps.
///
/// For given q the best scale is sum(w x q) / sum(w q q), and it lowers the error by
/// sum(w x q)^2 / sum(w q q): the candidate that lowers it most wins.
fn best_symmetric(values: &[f32; 16], levels: f32) -> f32 {
    let peak = signed_peak(values);
    if peak == 0.0 {
        return 0.0;
    }
    let shape = values.map(|x| x / peak);
    let (mut best, mut best_gain) = (0.0, 0.0);
    for step in -9_i8..=9 {
        let steps = -(levels + 0.1 * f32::from(step));
        let (mut xq, mut qq) = (0.0, 0.0);
        for x in shape {
            let q = nearest(x * steps, -levels, levels - 1.0);
            xq += x * x * x * q;
            qq += x * x * q * q;
        }
        if xq * xq > best_gain * qq {
            best_gain = xq * xq / qq;
            best = xq / qq * peak;
        }
    }
    best
}

/// `G` groups of `N` values, each `x = (d * scale) * q - (d_min * min)` with q in 0..=levels.
pub(crate) struct Affine<const G: usize, const N: usize> {
    /// The block's scale, already rounded to `f16`.
    pub(crate) d: f32,
    /// The block's unit of minima, already rounded to `f16`.
    pub(crate) d_min: f32,
    /// The groups' scales in units of `d`.
    pub(crate) scales: [u8; G],
    /// The groups' negated minima in units of `d_min`.
    pub(crate) mins: [u8; G],
    /// q of each value.
    pub(crate) q: [u8; K_LEN],
}

impl<const G: usize, const N: usize> Affine<G, N> {
    /// Fits each group by itself; the largest scale and the largest minimum become `scale_max`.
    pub(crate) fn fit(values: &[f32; K_LEN], levels: u8, scale_max: u8) -> Self {
        const { assert!(G * N == K_LEN) };
        let (levels, scale_max) = (f32::from(levels), f32::from(scale_max));
        let groups = values.as_chunks::<N>().0;
        let mut fits = [Grid { scale: 0.0, min: 0.0 }; G];
        for (fit, group) in fits.iter_mut().zip(groups) {
            *fit = best_affine(group, levels);
        }
        let (scale_fits, min_fits) = (fits.map(|fit| fit.scale), fits.map(|fit| fit.min));
        let unit = |fits: &[f32; G]| half::f16::from_f32(peak(fits) / scale_max).to_f32();
        let (d, d_min) = (unit(&scale_fits), unit(&min_fits));
        let round = |fit: f32, unit: f32| nearest(fit * inverse(unit), 0.0, scale_max) as u8;
        let scales = scale_fits.map(|fit| round(fit, d));
        let mins = min_fits.map(|fit| round(fit, d_min));
        let mut q = [0; K_LEN];
        for (g, (q, group)) in q.as_chunks_mut().0.iter_mut().zip(groups).enumerate() {
            let grid = Grid { scale: d * f32::from(scales[g]), min: d_min * f32::from(mins[g]) };
            *q = grid.levels(group, levels).map(|level| level as u8);
        }
        Self { d, d_min, scales, mins, q }
    }
}

/// The values `scale * q - min`; both fields are at least 0.
#[derive(Clone, Copy)]
struct Grid {
    scale: f32,
    min: f32,
}

impl Grid {
    /// The q in 0..=levels nearest to each value.
    #[inline(always)]
    fn levels<const N: usize>(self, values: &[f32; N], levels: f32) -> [f32; N] {
        let steps = inverse(self.scale);
        values.map(|x| nearest((x + self.min) * steps, 0.0, levels))
    }
}

/// The grid that comes closest to `values` in least squares among 16 that spread their range over
/// `levels - 1` to `levels + 0.5` steps, each refitted to the q it leads to.
fn best_affine<const N: usize>(values: &[f32; N], levels: f32) -> Grid {
    let (min, max) = min_max(values);
    let min = min.min(0.0);
    let mut best = Grid { scale: 0.0, min: -min };
    if max <= min {
        return best;
    }
    let mut best_error = f32::INFINITY;
    for step in -10_i8..=5 {
        let scale = (max - min) / (levels + 0.1 * f32::from(step));
        let start = Grid { scale, min: -min };
        let (fit, error) = refit(values, start, levels);
        if error < best_error {
            (best, best_error) = (fit, error);
        }
    }
    best
}

/// The grid that minimises sum (scale q - min - x)^2 for the q of `start`, and that sum. Where the
/// minimum lies at min < 0, the best grid with min = 0; `start` where the q do not determine one.
fn refit<const N: usize>(values: &[f32; N], start: Grid, levels: f32) -> (Grid, f32) {
    let (mut sum_q, mut sum_qq, mut sum_x, mut sum_xq) = (0.0, 0.0, 0.0, 0.0);
    let q = start.levels(values, levels);
    for (x, q) in values.iter().zip(q) {
        sum_q += q;
        sum_qq += q * q;
        sum_x += x;
        sum_xq += x * q;
    }
    let n = N as f32;
    let determinant = n * sum_qq - sum_q * sum_q;
    let mut grid = start;
    if determinant > 0.0 {
        let scale = (n * sum_xq - sum_x * sum_q) / determinant;
        let min = (scale * sum_q - sum_x) / n;
        grid = if min >= 0.0 {
            Grid { scale, min }
        } else {
            Grid { scale: sum_xq / sum_qq, min: 0.0 }
        };
        grid.scale = grid.scale.max(0.0);
    }
    let error = values.iter().zip(q).map(|(x, q)| grid.scale * q - grid.min - x);
    (grid, error.map(|error| error * error).sum())
}
