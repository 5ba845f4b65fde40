use super::{Comparison, Differences, differences};

#[test]
fn differences_are_shares_of_the_largest_logit() {
    let expected = vec![vec![1.0, -4.0, 2.0], vec![0.5, 0.25, 0.0]];
    let same = differences(&expected, &expected);
    assert_eq!((same.largest, same.mean_kl, same.same_top), (0.0, 0.0, 2));
    let found = vec![vec![1.0, -4.004, 2.0], vec![0.0, 0.25, 0.5]];
    let apart = differences(&expected, &found);
    assert_eq!((apart.positions, apart.same_top), (2, 1));
    assert!((apart.largest - 1.0).abs() < 1e-6, "{}", apart.largest);
    assert!(apart.mean_kl > 0.0, "{}", apart.mean_kl);
    let broken = differences(&expected, &[vec![f32::NAN; 3], vec![0.5, 0.25, 0.0]]);
    assert_eq!(broken.largest, f64::INFINITY);
}

#[test]
fn a_comparison_fails_beyond_its_tolerance() {
    let with = |largest: f64| Comparison {
        model: "tiny llama".to_owned(),
        tokens_alike: 3,
        tokens: 4,
        exact: Some(Differences { largest, ..Differences::default() }),
        default: Some(Differences::default()),
        error: None,
    };
    assert_eq!(with(1e-4).failure(), None);
    assert!(with(2e-3).failure().unwrap().contains("2.000e-3 of the largest, over 1e-3"));
    assert!(with(f64::NAN).failure().is_some());
    assert!(with(1e-4).text().starts_with("tiny llama: 3 of 4 tokens"));
    let failed = Comparison::failed("x", &anyhow::anyhow!("no such model"));
    assert_eq!(failed.failure().unwrap(), "x: no such model");
}
