use super::Row;

#[test]
fn probabilities_sum_to_one_and_shift_with_nothing() {
    let (row, shifted) = ([1.0, -2.0, 0.5, 0.5], [1001.0, 998.0, 1000.5, 1000.5]);
    let (row, shifted) = (Row::new(&row), Row::new(&shifted));
    let sum: f64 = (0..4).map(|id| row.logprob(id).exp()).sum();
    assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    for id in 0..4 {
        assert!((row.logprob(id) - shifted.logprob(id)).abs() < 1e-9);
    }
    assert_eq!(row.best(), 0);
    assert!(row.logprob(7).is_nan());
}

#[test]
fn divergence_is_that_of_the_formula() {
    // p = (3/4, 1/4), q = (1/2, 1/2): 3/4 ln(3/2) + 1/4 ln(1/2).
    let (p, q) = ([3.0_f32.ln(), 0.0], [0.0, 0.0]);
    let (p, q) = (Row::new(&p), Row::new(&q));
    let expected = 0.75 * 1.5_f64.ln() + 0.25 * 0.5_f64.ln();
    assert!((p.divergence(&q) - expected).abs() < 1e-7);
    assert_eq!(p.divergence(&p), 0.0);
    assert!(q.divergence(&p) > 0.0);
}
