//! How often tokens are drawn, against exact probabilities.

use minfer_sample::{Chain, Mirostat, Params, Xtc};

const N: usize = 40_000;

/// Counts of `N` tokens drawn with fixed logits.
fn counts(params: Params, logits: &[f32]) -> Vec<f64> {
    let mut chain = Chain::new(params, logits.len()).expect("valid parameters");
    let mut counts = vec![0.0; logits.len()];
    for _ in 0..N {
        counts[chain.sample(logits, &[], None).expect("a token").token as usize] += 1.0;
    }
    counts
}

/// Fails when the counts are less likely than about 1e-4 under the weights (chi-square, by Wilson
/// and Hilferty's approximation). Tokens of weight zero must not occur.
#[track_caller]
fn check(counts: &[f64], weights: &[f64]) {
    let total: f64 = weights.iter().sum();
    let mut chi = 0.0;
    let mut freedom = -1.0;
    for (count, weight) in counts.iter().zip(weights) {
        if *weight == 0.0 {
            assert_eq!(*count, 0.0, "a token that was cut off occurs");
            continue;
        }
        let expected = weight / total * N as f64;
        assert!(expected > 5.0, "the test needs likelier tokens");
        chi += (count - expected).powi(2) / expected;
        freedom += 1.0;
    }
    let spread = 2.0f64 / (9.0 * freedom);
    let normal = ((chi / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(normal < 3.72, "chi-square {chi} over {freedom}: {counts:?}");
}

fn off() -> Params {
    Params { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, ..Params::default() }
}

fn exp(logits: &[f32], t: f64) -> Vec<f64> {
    logits.iter().map(|l| (f64::from(*l) / t).exp()).collect()
}

const LOGITS: [f32; 8] = [0.5, 2.0, -1.0, 1.5, 0.0, 2.0, -2.0, 1.0];

#[test]
fn plain_sampling_follows_the_softmax() {
    for seed in [1, 2, u64::MAX] {
        check(&counts(Params { seed, ..off() }, &LOGITS), &exp(&LOGITS, 1.0));
    }
}

#[test]
fn a_large_vocabulary_follows_the_softmax() {
    let logits: Vec<f32> = (0..1_000).map(|i| ((i * 37) % 101) as f32 * 0.01).collect();
    check(&counts(off(), &logits), &exp(&logits, 1.0));
}

#[test]
fn temperature_flattens() {
    let params = Params { temperature: 1.7, ..off() };
    check(&counts(params, &LOGITS), &exp(&LOGITS, f64::from(1.7f32)));
}

#[test]
fn top_k_leaves_the_proportions() {
    // Ranked: 1, 5 (a tie), 3, 7.
    let mut weights = exp(&LOGITS, 1.0);
    for token in [0, 2, 4, 6] {
        weights[token] = 0.0;
    }
    check(&counts(Params { top_k: 4, ..off() }, &LOGITS), &weights);
}

#[test]
fn truncation_comes_before_temperature() {
    // At temperature 1 the first three hold 0.70 of the mass; at 4 they would not.
    let mut weights = exp(&LOGITS, 4.0);
    for token in [0, 2, 4, 6, 7] {
        weights[token] = 0.0;
    }
    check(&counts(Params { top_p: 0.7, temperature: 4.0, ..off() }, &LOGITS), &weights);
}

#[test]
fn xtc_acts_as_often_as_asked_and_independently_of_the_draw() {
    let p = exp(&LOGITS, 1.0);
    let total: f64 = p.iter().sum();
    // Tokens 1 and 5 have 0.26 each, 3 has 0.16, 7 has 0.10; above 0.15 are three, of which the
    // last-ranked (3) stays when the stage acts.
    let without: f64 = total - p[1] - p[5];
    let weights: Vec<f64> = (0..8)
        .map(|token| {
            let acted = if token == 1 || token == 5 { 0.0 } else { p[token] / without };
            0.3 * acted + 0.7 * p[token] / total
        })
        .collect();
    let xtc = Xtc { probability: 0.3, threshold: 0.15 };
    check(&counts(Params { xtc, ..off() }, &LOGITS), &weights);
}

#[test]
fn mirostat_reaches_its_target_surprise() {
    let logits: Vec<f32> = (0..2_000).map(|i| -1.1 * ((i + 1) as f32).ln()).collect();
    let total: f64 = exp(&logits, 1.0).iter().sum();
    for mirostat in [Mirostat::V1 { tau: 4.0, eta: 0.1 }, Mirostat::V2 { tau: 4.0, eta: 0.1 }] {
        let mut chain = Chain::new(Params { mirostat, ..off() }, 2_000).expect("valid parameters");
        let mut surprise = 0.0;
        for _ in 0..4_000 {
            let token = chain.sample(&logits, &[], None).expect("a token").token as usize;
            surprise -= (f64::from(logits[token]).exp() / total).log2() / 4_000.0;
        }
        // The target holds in the truncated distribution; against the whole one tokens surprise
        // more, by the mass cut off.
        assert!((4.0..5.5).contains(&surprise), "{mirostat:?}: {surprise} bits");
    }
}
