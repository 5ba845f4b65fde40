//! exp against double precision, and sums against the rule read term by term.

use super::{dot, exp, max, sum};

/// Distance in units in the last place between two positive floats.
fn ulps(a: f32, b: f32) -> u32 {
    a.to_bits().abs_diff(b.to_bits())
}

#[test]
fn exp_is_within_two_ulps_over_its_whole_range() {
    let mut worst = 0;
    let mut check = |x: f32| {
        let expected = libm::exp(f64::from(x)) as f32;
        let error = ulps(exp(x), expected);
        worst = worst.max(error);
        assert!(error <= 2, "exp({x:e}) = {:e}, expected {expected:e}: {error} ulps", exp(x));
    };
    for bits in (0..200_f32.to_bits()).step_by(1_009) {
        check(f32::from_bits(bits));
        check(-f32::from_bits(bits));
    }
    // Around the largest finite result, and where results are subnormal.
    for step in 0..20_000 {
        check(88.0 + step as f32 * 1e-4);
        check(-86.0 - step as f32 * 1e-3);
    }
    assert!(worst > 0, "a sweep without any rounding error has not been a sweep");
}

#[test]
fn exp_at_its_limits() {
    assert_eq!(exp(0.0), 1.0);
    assert_eq!(exp(-0.0), 1.0);
    assert_eq!(exp(f32::NEG_INFINITY).to_bits(), 0);
    assert_eq!(exp(-104.0).to_bits(), 0);
    assert_eq!(exp(-103.0), f32::from_bits(1));
    assert_eq!(exp(f32::INFINITY), f32::INFINITY);
    assert_eq!(exp(89.0), f32::INFINITY);
    assert!(exp(88.72).is_finite());
    assert!(exp(f32::NAN).is_nan());
    assert_eq!(exp(f32::MIN_POSITIVE / 4.0), 1.0);
}

/// A dot product read from the rule: lane k mod 16, then the tree, with every step written out.
fn by_the_rule(terms: &[(f32, f32)]) -> f32 {
    let lane =
        |l: usize| terms.iter().skip(l).step_by(16).fold(0.0_f32, |acc, &(a, b)| a.mul_add(b, acc));
    let eight = |l: usize| lane(l) + lane(l + 8);
    let four = |l: usize| eight(l) + eight(l + 4);
    let two = |l: usize| four(l) + four(l + 2);
    two(0) + two(1)
}

#[test]
fn a_float_sum_takes_lanes_and_then_the_tree() {
    // Terms of very different sizes: any other order rounds otherwise.
    let term = |k: usize| ((k * 7919 % 101) as f32 - 50.0) * 10_f32.powi((k * 31 % 11) as i32 - 5);
    for n in [0, 1, 7, 16, 17, 100, 576] {
        let a: Vec<f32> = (0..n).map(term).collect();
        let b: Vec<f32> = (0..n).map(|k| term(k + 3)).collect();
        let pairs: Vec<(f32, f32)> = a.iter().copied().zip(b.iter().copied()).collect();
        assert_eq!(dot(&a, &b).to_bits(), by_the_rule(&pairs).to_bits(), "dot of {n}");
        let ones: Vec<(f32, f32)> = a.iter().map(|&a| (a, 1.0)).collect();
        assert_eq!(sum(&a).to_bits(), by_the_rule(&ones).to_bits(), "sum of {n}");
    }
    let a: Vec<f32> = (0..576).map(term).collect();
    assert_ne!(sum(&a).to_bits(), a.iter().sum::<f32>().to_bits(), "the order matters here");
}

#[test]
fn a_dot_product_fuses() {
    // (1 + 2^-12)^2 − 1 needs more bits than the product alone keeps.
    let x = 1.0 + f32::EPSILON * 2048.0;
    let (mut a, mut b) = ([0.0_f32; 17], [0.0_f32; 17]);
    (a[0], b[0]) = (-1.0, 1.0);
    (a[16], b[16]) = (x, x);
    assert_eq!(dot(&a, &b), x.mul_add(x, -1.0));
    assert_ne!(dot(&a, &b), x * x - 1.0);
}

#[test]
fn the_maximum_passes_over_nan() {
    assert_eq!(max(&[1.0_f32, f32::NAN, 3.0]), 3.0);
    assert_eq!(max::<f32>(&[]), f32::NEG_INFINITY);
}
