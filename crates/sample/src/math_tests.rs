use crate::math;
use crate::probability::Raw;

#[test]
fn exp_is_within_two_ulps_over_its_range() {
    let mut worst = 0.0f64;
    for step in 0..1_400_000 {
        let x = -f64::from(step) * 5.04e-4;
        let exact = libm::exp(x);
        worst = worst.max(((math::exp(x) - exact) / exact).abs());
    }
    assert!(worst <= 2.0 * f64::EPSILON, "worst relative error {worst:e}");
}

#[test]
fn exp_at_its_ends() {
    assert_eq!(math::exp(0.0), 1.0);
    assert_eq!(math::exp(-0.0), 1.0);
    assert_eq!(math::exp(-1.0).to_bits(), libm::exp(-1.0).to_bits());
    assert_eq!(math::exp(-708.0), 0.0);
    assert_eq!(math::exp(f64::NEG_INFINITY), 0.0);
}

#[test]
fn the_sum_takes_every_value_at_every_length() {
    for n in 1..40u8 {
        let values: Vec<f32> = (1..=n).map(|i| -f32::from(i) / 4.0).collect();
        let expected: f64 = values.iter().map(|&v| libm::exp(f64::from(v))).sum();
        let found = math::sum_exp(&values, 0.0);
        assert!((found - expected).abs() < 1e-14 * expected, "length {n}");
    }
}

#[test]
fn raw_logprobs_survive_large_logits() {
    let raw = Raw::of(&[3.0e38, 3.0e38, -3.0e38]).expect("finite logits");
    assert!((raw.logprob(3.0e38) + std::f64::consts::LN_2 as f32).abs() < 1e-6);
    assert!(raw.logprob(-3.0e38) < -1.0e38);
}
