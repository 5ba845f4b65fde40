//! Each stage against its definition, written out in f64 over fully sorted lists.

use std::collections::BTreeMap;

use minfer_sample::stage::{self, Candidate};
use minfer_sample::{Dry, Penalties, Xtc};
use proptest::prelude::*;

/// (token, logit), as the definitions see them.
type Row = Vec<(u32, f64)>;

fn candidates(row: &[f32]) -> Vec<Candidate> {
    (0u32..).zip(row).map(|(token, &logit)| Candidate::new(token, logit)).collect()
}

/// Sorted by falling logit, then rising token.
fn ranked(row: &[f32]) -> Row {
    let mut row: Row = (0u32..).zip(row).map(|(t, &l)| (t, f64::from(l))).collect();
    row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    row
}

fn softmax(row: &Row) -> Vec<f64> {
    let max = row.iter().map(|r| r.1).fold(f64::MIN, f64::max);
    let weights: Vec<f64> = row.iter().map(|r| (r.1 - max).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|w| w / total).collect()
}

fn kept(row: &[f32], stage: impl Fn(&mut [Candidate]) -> usize) -> Vec<u32> {
    let mut list = candidates(row);
    let n = stage(&mut list);
    let mut tokens: Vec<u32> = list[..n].iter().map(|c| c.token).collect();
    tokens.sort_unstable();
    let mut all: Vec<u32> = list.iter().map(|c| c.token).collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..row.len() as u32), "candidates were lost");
    assert!(n > 0, "nothing was kept");
    tokens
}

fn tokens(row: &[(u32, f64)]) -> Vec<u32> {
    let mut tokens: Vec<u32> = row.iter().map(|r| r.0).collect();
    tokens.sort_unstable();
    tokens
}

/// The sums of stage and definition differ in their last bits, so a cut that lands on one is
/// decided by rounding; such rows are passed over.
fn clear(sums: &[f64], cut: f64) -> bool {
    sums.iter().all(|sum| (sum - cut).abs() > 1e-9)
}

fn cumulative(p: &[f64]) -> Vec<f64> {
    p.iter()
        .scan(0.0, |sum, p| {
            *sum += p;
            Some(*sum)
        })
        .collect()
}

/// Few distinct values among many, so that ties occur.
fn rows() -> impl Strategy<Value = Vec<f32>> {
    prop_oneof![
        prop::collection::vec(-12.0f32..12.0, 1..60),
        prop::collection::vec((-4i32..4).prop_map(|v| v as f32), 1..60),
        prop::collection::vec(-3.0f32..3.0, 400..900),
    ]
}

proptest! {
    #[test]
    fn top_k_keeps_the_first_k(row in rows(), k in 0usize..70) {
        let n = if k == 0 { row.len() } else { k.min(row.len()) };
        prop_assert_eq!(kept(&row, |c| stage::top_k::top_k(c, k)), tokens(&ranked(&row)[..n]));
    }

    #[test]
    fn top_p_keeps_the_nucleus(row in rows(), p in 0.0f32..1.1) {
        let sorted = ranked(&row);
        let sums = cumulative(&softmax(&sorted));
        prop_assume!(clear(&sums, p.into()));
        let n = if p >= 1.0 {
            row.len()
        } else {
            sums.iter().position(|s| *s >= f64::from(p)).map_or(row.len(), |i| i + 1)
        };
        prop_assert_eq!(kept(&row, |c| stage::top_p::top_p(c, p)), tokens(&sorted[..n]));
    }

    #[test]
    fn min_p_keeps_a_share_of_the_largest(row in rows(), p in 0.0f32..1.0) {
        let sorted = ranked(&row);
        let probabilities = softmax(&sorted);
        let floor = f64::from(p) * probabilities[0];
        prop_assume!(clear(&probabilities, floor));
        let n = probabilities.iter().filter(|q| **q >= floor).count();
        prop_assert_eq!(kept(&row, |c| stage::min_p::min_p(c, p)), tokens(&sorted[..n]));
    }

    #[test]
    fn typical_keeps_the_nearest_to_the_entropy(row in rows(), p in 0.0f32..1.1) {
        let sorted = ranked(&row);
        let probabilities = softmax(&sorted);
        let entropy: f64 = probabilities.iter().map(|q| -q * q.ln()).sum();
        let mut order: Vec<usize> = (0..row.len()).collect();
        let distance = |i: usize| (-probabilities[i].ln() - entropy).abs();
        order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        // Equal distances on both sides of the entropy are decided by rounding.
        let close = order.windows(2).any(|w| {
            (distance(w[0]) - distance(w[1])).abs() < 1e-9 && sorted[w[0]].1 != sorted[w[1]].1
        });
        prop_assume!(!close);
        let chosen: Vec<f64> = order.iter().map(|&i| probabilities[i]).collect();
        let sums = cumulative(&chosen);
        prop_assume!(clear(&sums, p.into()));
        let n = if p >= 1.0 {
            row.len()
        } else {
            sums.iter().position(|s| *s > f64::from(p)).map_or(row.len(), |i| i + 1)
        };
        let expected: Row = order[..n].iter().map(|&i| sorted[i]).collect();
        let found = kept(&row, |c| stage::typical::typical(c, p));
        prop_assert_eq!(found, tokens(&expected));
    }

    #[test]
    fn top_n_sigma_keeps_what_is_near_the_largest(row in rows(), n in -1.0f32..4.0) {
        let sorted = ranked(&row);
        let count = row.len() as f64;
        let mean = sorted.iter().map(|r| r.1).sum::<f64>() / count;
        let sigma = (sorted.iter().map(|r| (r.1 - mean).powi(2)).sum::<f64>() / count).sqrt();
        let floor = if n > 0.0 { sorted[0].1 - f64::from(n) * sigma } else { f64::MIN };
        let logits: Vec<f64> = sorted.iter().map(|r| r.1).collect();
        prop_assume!(row.len() == 1 || clear(&logits, floor));
        let expected: Row = sorted.into_iter().filter(|r| count == 1.0 || r.1 >= floor).collect();
        prop_assert_eq!(kept(&row, |c| stage::top_n_sigma::top_n_sigma(c, n)), tokens(&expected));
    }

    #[test]
    fn xtc_drops_the_top_choices_but_one(
        row in rows(), probability in 0.0f32..1.0, threshold in 0.0f32..0.7, u in 0.0f64..1.0,
    ) {
        let sorted = ranked(&row);
        let probabilities = softmax(&sorted);
        prop_assume!(clear(&probabilities, threshold.into()));
        let likely = probabilities.iter().filter(|q| **q >= f64::from(threshold)).count();
        let acts = u < f64::from(probability) && threshold <= 0.5 && likely >= 2;
        let first = if acts { likely - 1 } else { 0 };
        let settings = Xtc { probability, threshold };
        let found = kept(&row, |c| stage::xtc::xtc(c, &settings, u));
        prop_assert_eq!(found, tokens(&sorted[first..]));
    }

    #[test]
    fn temperature_divides(row in rows(), t in -0.5f64..3.0) {
        let mut list = candidates(&row);
        let n = stage::temperature::temperature(&mut list, t);
        let sorted = ranked(&row);
        if t <= 0.0 {
            prop_assert_eq!((n, list[0].token), (1, sorted[0].0));
        } else {
            let max = sorted[0].1;
            for (c, l) in list.iter().zip(&row) {
                let expected = (f64::from(*l) - max) / t;
                prop_assert!((f64::from(c.logit) - expected).abs() <= expected.abs() * 1e-6);
            }
        }
    }

    #[test]
    fn dynamic_temperature_follows_the_entropy(
        row in rows(), t in 0.1f64..2.0, range in 0.0f64..2.0, exponent in 0.0f64..3.0,
    ) {
        let p = softmax(&ranked(&row));
        let entropy: f64 = p.iter().map(|q| -q * q.ln()).sum();
        let low = (t - range).max(0.0);
        let share = (entropy / (row.len() as f64).ln()).powf(exponent);
        let plain = range == 0.0 || row.len() == 1;
        let actual = if plain { t } else { low + (t + range - low) * share };
        prop_assume!(actual > 1e-3);
        let mut found = candidates(&row);
        stage::temperature::dynamic_temperature(&mut found, t, range, exponent);
        let mut expected = candidates(&row);
        stage::temperature::temperature(&mut expected, actual);
        for (a, b) in found.iter().zip(&expected) {
            prop_assert!((a.logit - b.logit).abs() <= b.logit.abs() * 1e-5, "{a:?} {b:?}");
        }
    }

    #[test]
    fn mirostat_2_keeps_what_surprises_less_than_mu(row in rows(), mu in -2.0f64..12.0) {
        let sorted = ranked(&row);
        let surprise: Vec<f64> = softmax(&sorted).iter().map(|p| -p.log2()).collect();
        prop_assume!(clear(&surprise, mu));
        let n = surprise.iter().filter(|s| **s <= mu).count().max(1);
        prop_assert_eq!(kept(&row, |c| stage::mirostat::mirostat_2(c, mu)), tokens(&sorted[..n]));
    }

    #[test]
    fn mirostat_1_cuts_at_the_zipf_estimate(row in rows(), mu in 0.1f64..12.0) {
        let sorted = ranked(&row);
        let vocab = 50_000usize;
        let (mut tb, mut tt) = (0.0, 0.0);
        for i in 0..sorted.len().min(100).saturating_sub(1) {
            let t = ((i + 2) as f64 / (i + 1) as f64).ln();
            tb += t * (sorted[i].1 - sorted[i + 1].1);
            tt += t * t;
        }
        let n = if sorted.len() == 1 {
            1
        } else {
            let s = tb / tt;
            let e = s - 1.0;
            let k = (e * mu.exp2() / (1.0 - (vocab as f64).powf(-e))).powf(1.0 / s);
            let on_border = (0.5..1e6).contains(&k) && (k - k.round()).abs() <= 1e-6;
            prop_assume!(s == 0.0 || !on_border);
            (k as usize).clamp(1, sorted.len())
        };
        let found = kept(&row, |c| stage::mirostat::mirostat_1(c, mu, vocab));
        prop_assert_eq!(found, tokens(&sorted[..n]));
    }

    #[test]
    fn penalties_follow_the_counts(
        row in prop::collection::vec(-9.0f32..9.0, 1..20),
        window in prop::collection::vec(0u32..25, 0..40),
        repeat in 0.5f32..2.0, frequency in -1.0f32..1.0, presence in -1.0f32..1.0,
    ) {
        let settings = Penalties { last_n: 64, repeat, frequency, presence };
        let mut found = row.clone();
        stage::penalties::penalties(&mut found, &window, &settings, &mut Vec::new());
        for (token, (&before, &after)) in row.iter().zip(&found).enumerate() {
            let count = window.iter().filter(|t| **t as usize == token).count() as f64;
            let r = f64::from(repeat);
            let mut expected = f64::from(before);
            if count > 0.0 {
                expected = if expected > 0.0 { expected / r } else { expected * r };
                expected -= count * f64::from(frequency) + f64::from(presence);
            }
            prop_assert!((f64::from(after) - expected).abs() < 1e-4);
        }
    }

    #[test]
    fn dry_penalises_what_goes_on_with_a_repetition(
        window in prop::collection::vec(0u32..4, 0..40),
        breakers in prop::collection::vec(prop::collection::vec(0u32..4, 1..3), 0..2),
        allowed_length in 0u32..4,
    ) {
        let settings =
            Dry { multiplier: 0.8, base: 1.75, allowed_length, last_n: -1, breakers };
        let mut found = vec![0.0f32; 4];
        stage::dry::dry(&mut found, &window, &settings, &mut stage::dry::Scratch::default());
        let expected = dry_definition(&window, &settings);
        for (token, value) in found.iter().enumerate() {
            let penalty = expected.get(&(token as u32)).copied().unwrap_or(0.0);
            prop_assert!((f64::from(*value) + penalty).abs() < 1e-5 * penalty.max(1.0));
        }
    }

    #[test]
    fn logit_bias_adds(row in prop::collection::vec(-9.0f32..9.0, 1..20), token in 0u32..25) {
        let mut found = row.clone();
        stage::logit_bias::logit_bias(&mut found, &[(token, 1.5), (token, -0.5)]);
        for (index, (before, after)) in row.iter().zip(&found).enumerate() {
            let added = if index as u32 == token { 1.0 } else { 0.0 };
            prop_assert!((after - before - added).abs() < 1e-5);
        }
    }
}

/// By comparing all suffixes.
fn dry_definition(window: &[u32], settings: &Dry) -> BTreeMap<u32, f64> {
    let n = window.len();
    let mut limit = n;
    for breaker in &settings.breakers {
        for end in breaker.len()..=n {
            if window[end - breaker.len()..end] == breaker[..] {
                limit = limit.min(n - end);
            }
        }
    }
    let mut lengths = BTreeMap::new();
    for j in 1..n {
        let mut m = 0;
        while m < j && m < limit && window[j - 1 - m] == window[n - 1 - m] {
            m += 1;
        }
        if m >= 1 && m >= settings.allowed_length as usize {
            let longest = lengths.entry(window[j]).or_insert(0);
            *longest = m.max(*longest);
        }
    }
    let grown = |m: usize| 0.8 * 1.75f64.powi(m as i32 - settings.allowed_length as i32);
    lengths.into_iter().map(|(token, m)| (token, grown(m))).collect()
}

#[test]
fn mirostat_moves_against_the_surprise() {
    // p = 1/8 surprises by 3 bits; the target is 5.
    let mu = stage::mirostat::update(10.0, 0.125, 5.0, 0.1);
    assert!((mu - 10.2).abs() < 1e-12);
}

#[test]
fn a_long_repetition_keeps_the_penalty_finite() {
    let settings =
        Dry { multiplier: 5.0, base: 4.0, allowed_length: 2, last_n: -1, breakers: Vec::new() };
    let mut logits = vec![1.0f32; 3];
    let window = vec![1u32; 5_000];
    stage::dry::dry(&mut logits, &window, &settings, &mut stage::dry::Scratch::default());
    assert_eq!(logits[0], 1.0);
    assert!(logits[1] < -1e29 && logits[1].is_finite());
}

#[test]
fn tiny_temperatures_do_not_overflow() {
    let mut list = candidates(&[1.0, 3.0e38, -3.0e38]);
    stage::temperature::temperature(&mut list, 1e-30);
    assert_eq!(list[1].logit, 0.0);
    assert_eq!(stage::weigh(&mut list), 1.0);
}
