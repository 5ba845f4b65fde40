//! The chain as a whole: order, greedy, masks, faults, determinism.

use minfer_sample::rng::Draw;
use minfer_sample::stage::{self, Candidate};
use minfer_sample::top_logprobs;
use minfer_sample::{Chain, Choice, Dry, Error, Mask, Mirostat, Params, Penalties, Xtc};
use proptest::prelude::*;

fn one(params: Params, logits: &[f32]) -> Result<Choice, Error> {
    Chain::new(params, logits.len()).expect("valid parameters").sample(logits, &[], None)
}

fn off() -> Params {
    Params { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, ..Params::default() }
}

/// Made-up logits that do not depend on any library's rounding.
fn made_up(n: usize, salt: u64) -> Vec<f32> {
    (0..n).map(|i| (Draw::new(salt, i as u64).token() * 16.0 - 8.0) as f32).collect()
}

#[test]
fn greedy_takes_the_largest_and_the_lowest_of_equals() {
    assert_eq!(one(Params::greedy(), &[1.0, 3.0, 3.0, 2.0]).map(|c| c.token), Ok(1));
    assert_eq!(one(Params::greedy(), &[-0.0, 0.0]).map(|c| c.token), Ok(0));
    let params = Params { temperature: -1.0, ..Params::default() };
    assert_eq!(one(params, &[f32::MIN, f32::MAX]).map(|c| c.token), Ok(1));
}

#[test]
fn greedy_through_the_stages_that_may_drop_the_largest() {
    let xtc = Xtc { probability: 1.0, threshold: 0.1 };
    let params = Params { xtc, min_p: 0.0, ..Params::greedy() };
    assert_eq!(one(params, &[1.0, 3.0, 2.9, 0.0]).map(|c| c.token), Ok(2));
}

#[test]
fn logprob_is_of_the_raw_distribution() {
    let logits = [1.0f32, 2.0, 0.5, -1.0];
    let total: f64 = logits.iter().map(|l| f64::from(*l).exp()).sum();
    let bias = vec![(3, 100.0)];
    let params = Params { temperature: 0.1, logit_bias: bias, ..Params::default() };
    let choice = one(params, &logits).expect("a token");
    assert_eq!(choice.token, 3);
    assert!((f64::from(choice.logprob) - (-1.0 - total.ln())).abs() < 1e-6);
}

#[test]
fn top_logprobs_are_ranked_and_sum_to_one() {
    let logits = [1.0f32, 2.0, 0.5, 2.0, -1.0];
    let top = top_logprobs(&logits, 3).expect("finite logits");
    assert_eq!(top.iter().map(|t| t.0).collect::<Vec<_>>(), [1, 3, 0]);
    let all = top_logprobs(&logits, 100).expect("finite logits");
    assert_eq!(all.len(), 5);
    let sum: f64 = all.iter().map(|t| f64::from(t.1).exp()).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    assert_eq!(top_logprobs(&logits, 0), Ok(Vec::new()));
    let fault = top_logprobs(&[0.0, f32::INFINITY], 1);
    assert_eq!(fault, Err(Error::NumericFault { index: 1, value: f32::INFINITY }));
    assert!(top_logprobs(&[], 3).expect("no logits, no fault").is_empty());
}

#[test]
fn faulty_logits_are_never_a_token() {
    for params in [Params::greedy(), Params::default(), off()] {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for index in [0, 5, 99] {
                let mut logits = made_up(100, 3);
                logits[index] = value;
                // A fault in a token that the mask forbids is a fault all the same.
                let mut mask = Mask::all(100);
                mask.forbid(index as u32).expect("a known token");
                let mut chain = Chain::new(params.clone(), 100).expect("valid parameters");
                match chain.sample(&logits, &[], Some(&mask)) {
                    Err(Error::NumericFault { index: found, value: shown }) => {
                        assert_eq!((found, shown.to_bits()), (index, value.to_bits()));
                    }
                    other => panic!("{value} at {index}: {other:?}"),
                }
                assert_eq!(chain.position(), 0);
            }
        }
    }
}

#[test]
fn an_overflowing_bias_is_a_fault() {
    let params = Params { logit_bias: vec![(1, f32::MAX)], ..Params::default() };
    let fault = Error::NumericFault { index: 1, value: f32::INFINITY };
    assert_eq!(one(params, &[0.0, f32::MAX]), Err(fault));
}

#[test]
fn masks_and_bans_together_may_leave_nothing() {
    let ban = vec![(2, f32::NEG_INFINITY)];
    for params in [Params::greedy(), Params::default(), off()] {
        let params = Params { logit_bias: ban.clone(), ..params };
        let mut chain = Chain::new(params, 4).expect("valid parameters");
        let mut mask = Mask::none(4);
        let nothing = Err(Error::NothingAllowed { vocab_size: 4 });
        assert_eq!(chain.sample(&[0.0; 4], &[], Some(&mask)), nothing);
        mask.allow(2).expect("a known token");
        assert_eq!(chain.sample(&[0.0; 4], &[], Some(&mask)), nothing);
        mask.allow(3).expect("a known token");
        assert_eq!(chain.sample(&[9.0, 9.0, 9.0, -9.0], &[], Some(&mask)).map(|c| c.token), Ok(3));
    }
}

#[test]
fn lengths_must_agree() {
    let mut chain = Chain::new(Params::default(), 4).expect("valid parameters");
    let logits = Error::Length { name: "logits", expected: 4, found: 3 };
    assert_eq!(chain.sample(&[0.0; 3], &[], None), Err(logits));
    let mask = Error::Length { name: "mask", expected: 4, found: 5 };
    assert_eq!(chain.sample(&[0.0; 4], &[], Some(&Mask::all(5))), Err(mask));
}

#[test]
fn history_outside_the_vocabulary_is_passed_over() {
    let penalties = Penalties { last_n: -1, repeat: 1.5, frequency: 0.1, presence: 0.1 };
    let dry = Dry { multiplier: 1.0, ..Params::default().dry };
    let params = Params { penalties, dry, ..Params::greedy() };
    let mut chain = Chain::new(params, 3).expect("valid parameters");
    let history = [7, 900, u32::MAX, 7, 900, u32::MAX, 7, 900];
    assert_eq!(chain.sample(&[0.0, 1.0, 0.5], &history, None).map(|c| c.token), Ok(1));
}

#[test]
fn penalties_see_the_window_alone() {
    let penalties = Penalties { last_n: 2, repeat: 1.0, frequency: 0.0, presence: 5.0 };
    let mut chain =
        Chain::new(Params { penalties, ..Params::greedy() }, 3).expect("valid parameters");
    let logits = [2.0, 1.0, 0.0];
    assert_eq!(chain.sample(&logits, &[1, 0], None).map(|c| c.token), Ok(2));
    assert_eq!(chain.sample(&logits, &[0, 1, 1], None).map(|c| c.token), Ok(0));
}

/// Every narrowing stage on, against the same functions called in the documented order.
#[test]
fn stages_run_in_the_documented_order() {
    let params = Params {
        seed: 11,
        temperature: 0.9,
        dynamic_range: 0.3,
        top_k: 30,
        top_p: 0.9,
        min_p: 0.02,
        typical_p: 0.95,
        top_n_sigma: 2.5,
        xtc: Xtc { probability: 0.5, threshold: 0.08 },
        penalties: Penalties { last_n: 8, repeat: 1.2, frequency: 0.1, presence: 0.2 },
        dry: Dry { multiplier: 0.8, ..Params::default().dry },
        logit_bias: vec![(3, 2.0), (4, f32::NEG_INFINITY)],
        ..Params::default()
    };
    let mut chain = Chain::new(params.clone(), 80).expect("valid parameters");
    let history: Vec<u32> = (0..40).map(|i| i % 7).collect();
    for n in 0..200u64 {
        let logits: Vec<f32> = made_up(80, 100 + n).iter().map(|l| l * 0.4).collect();
        let mut l = logits.clone();
        stage::logit_bias::logit_bias(&mut l, &params.logit_bias);
        let window = &history[32..];
        stage::penalties::penalties(&mut l, window, &params.penalties, &mut Vec::new());
        stage::dry::dry(&mut l, &history, &params.dry, &mut stage::dry::Scratch::default());
        let mut c: Vec<Candidate> = (0u32..)
            .zip(l)
            .filter(|(_, l)| l.is_finite())
            .map(|(t, l)| Candidate::new(t, l))
            .collect();
        let draw = Draw::new(11, n);
        type Stage<'a> = &'a dyn Fn(&mut [Candidate]) -> usize;
        let order: [Stage<'_>; 7] = [
            &|c| stage::top_n_sigma::top_n_sigma(c, 2.5),
            &|c| stage::top_k::top_k(c, 30),
            &|c| stage::typical::typical(c, 0.95),
            &|c| stage::top_p::top_p(c, 0.9),
            &|c| stage::min_p::min_p(c, 0.02),
            &|c| stage::xtc::xtc(c, &params.xtc, draw.xtc()),
            &|c| {
                let (t, range) = (f64::from(0.9f32), f64::from(0.3f32));
                stage::temperature::dynamic_temperature(c, t, range, 1.0)
            },
        ];
        for stage in order {
            let kept = stage(&mut c);
            c.truncate(kept);
        }
        c.sort_by_key(|c| c.token);
        let target = draw.token() * stage::weigh(&mut c);
        let mut sum = 0.0;
        let expected = c.iter().find(|c| {
            sum += c.weight;
            sum > target
        });
        let found = chain.sample(&logits, &history, None).expect("a token");
        assert_eq!(Some(found.token), expected.map(|c| c.token), "draw {n}");
    }
}

#[test]
fn mirostat_passes_the_narrowing_stages_over() {
    let mirostat = Mirostat::V2 { tau: 20.0, eta: 0.0 };
    let params = Params { mirostat, top_k: 1, temperature: 5.0, ..Params::default() };
    let mut chain = Chain::new(params, 50).expect("valid parameters");
    let logits = made_up(50, 1);
    let seen: std::collections::BTreeSet<u32> =
        (0..500).map(|_| chain.sample(&logits, &[], None).expect("a token").token).collect();
    assert!(seen.len() > 30, "{seen:?}");
}

fn run(params: Params, n: u64) -> Vec<u32> {
    let mut chain = Chain::new(params, 1_000).expect("valid parameters");
    let mut history = Vec::new();
    for step in 0..n {
        let logits = made_up(1_000, 7 + step);
        history.push(chain.sample(&logits, &history, None).expect("a token").token);
    }
    history
}

/// A seed means the same tokens on every platform and in every version.
#[test]
fn pinned_outputs() {
    let xtc = Xtc { probability: 0.5, threshold: 0.05 };
    let dry = Dry { multiplier: 0.8, ..Params::default().dry };
    let mirostat = Mirostat::V1 { tau: 5.0, eta: 0.1 };
    let all = Params { seed: 3, typical_p: 0.9, dynamic_range: 0.4, xtc, dry, ..Params::default() };
    let cases = [
        (Params::default(), [849, 321, 338, 390, 643, 60, 884, 168]),
        (Params { seed: 42, ..Params::default() }, [308, 288, 669, 706, 867, 242, 806, 496]),
        (Params { seed: 42, ..off() }, [411, 306, 641, 671, 834, 287, 773, 431]),
        (all, [35, 495, 788, 207, 448, 131, 261, 296]),
        (
            Params { seed: 5, mirostat, ..Params::default() },
            [35, 194, 669, 685, 143, 283, 806, 506],
        ),
    ];
    for (params, expected) in cases {
        assert_eq!(run(params.clone(), 8), expected, "{params:?}");
    }
}

#[test]
fn the_draw_is_a_function_of_seed_and_number() {
    let logits = made_up(300, 9);
    let params = Params { seed: 77, ..off() };
    let mut chain = Chain::new(params.clone(), 300).expect("valid parameters");
    let straight: Vec<u32> =
        (0..20).map(|_| chain.sample(&logits, &[], None).expect("a token").token).collect();
    assert_eq!(chain.position(), 20);
    for n in (0..20).rev() {
        let mut other = Chain::new(params.clone(), 300).expect("valid parameters");
        other.seek(n);
        let choice = other.sample(&logits, &[1, 2, 3], Some(&Mask::all(300)));
        assert_eq!(choice.map(|c| c.token), Ok(straight[n as usize]));
    }
}

fn any_params() -> impl Strategy<Value = Params> {
    let narrow = (0u32..50, 0.0f32..=1.0, 0.0f32..=1.0, 0.0f32..=1.0, -1.0f32..3.0);
    let scale = (any::<u64>(), -0.5f32..3.0, 0.0f32..1.0, 0u32..3);
    let rest = (0.0f32..=1.0, 0.0f32..=0.6, 0.0f32..2.0, 0.5f32..2.0);
    (narrow, scale, rest).prop_map(|(narrow, scale, rest)| Params {
        top_k: narrow.0,
        top_p: narrow.1,
        min_p: narrow.2,
        typical_p: narrow.3,
        top_n_sigma: narrow.4,
        seed: scale.0,
        temperature: scale.1,
        dynamic_range: scale.2,
        mirostat: match scale.3 {
            0 => Mirostat::Off,
            1 => Mirostat::V1 { tau: 3.0, eta: 0.1 },
            _ => Mirostat::V2 { tau: 3.0, eta: 0.1 },
        },
        xtc: Xtc { probability: rest.0, threshold: rest.1 },
        dry: Dry { multiplier: rest.2, ..Params::default().dry },
        penalties: Penalties { last_n: 16, repeat: rest.3, frequency: 0.1, presence: 0.1 },
        ..Params::default()
    })
}

proptest! {
    #[test]
    fn the_token_is_always_in_the_mask(
        params in any_params(),
        allowed in prop::collection::btree_set(0u32..200, 1..200),
        spread in 0.0f32..30.0,
    ) {
        let mut mask = Mask::none(200);
        for &token in &allowed {
            mask.allow(token).expect("a known token");
        }
        let mut chain = Chain::new(params, 200).expect("valid parameters");
        let mut history = Vec::new();
        for step in 0..8 {
            let logits: Vec<f32> = made_up(200, step).iter().map(|l| l * spread).collect();
            let choice = chain.sample(&logits, &history, Some(&mask)).expect("a token");
            prop_assert!(allowed.contains(&choice.token));
            prop_assert!(choice.logprob <= 0.0);
            history.push(choice.token);
        }
        prop_assert_eq!(chain.position(), 8);
    }

    #[test]
    fn greedy_is_the_argmax(logits in prop::collection::vec(-50i8..50, 1..300)) {
        let logits: Vec<f32> = logits.into_iter().map(f32::from).collect();
        let max = logits.iter().copied().fold(f32::MIN, f32::max);
        let first = logits.iter().position(|l| *l == max).expect("a largest") as u32;
        prop_assert_eq!(one(Params::greedy(), &logits).map(|c| c.token), Ok(first));
    }
}
