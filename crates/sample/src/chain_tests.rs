use super::Chain;
use crate::{Dry, Error, Mask, Mirostat, Params, Penalties};

/// Where the chain's buffers lie and how large they are.
fn buffers(chain: &Chain) -> [(usize, usize); 4] {
    [
        (chain.edited.as_ptr() as usize, chain.edited.capacity()),
        (chain.candidates.as_ptr() as usize, chain.candidates.capacity()),
        (chain.sorted.as_ptr() as usize, chain.sorted.capacity()),
        chain.dry.buffers(),
    ]
}

#[test]
fn the_second_call_and_all_later_ones_reuse_the_buffers() {
    let mirostat = Mirostat::V1 { tau: 5.0, eta: 0.1 };
    let base = Params {
        penalties: Penalties { last_n: -1, repeat: 1.1, frequency: 0.0, presence: 0.0 },
        dry: Dry { multiplier: 0.8, ..Params::default().dry },
        logit_bias: vec![(3, 1.0)],
        ..Params::default()
    };
    let all = Params { top_k: 0, typical_p: 0.9, ..base.clone() };
    for params in [base.clone(), all, Params { mirostat, ..base }] {
        let mut chain = Chain::new(params, 500).expect("valid parameters");
        let history: Vec<u32> = (0..200).map(|i| i % 9).collect();
        let logits = |step: u32| -> Vec<f32> {
            (0..500u32).map(|i| ((i * 31 + step * 17) % 97) as f32 * 0.1).collect()
        };
        chain.sample(&logits(0), &history, None).expect("a token");
        let sized = buffers(&chain);
        for step in 1..50 {
            let mask = (step % 2 == 0).then(|| Mask::all(500));
            chain.sample(&logits(step), &history, mask.as_ref()).expect("a token");
            assert_eq!(buffers(&chain), sized);
        }
    }
}

/// The `k` largest of a row, as a device gives them.
fn largest(logits: &[f32], k: usize) -> (Vec<i32>, Vec<f32>) {
    let mut ids: Vec<i32> = (0..logits.len() as i32).collect();
    let order =
        |a: &i32, b: &i32| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b));
    ids.sort_by(order);
    ids.truncate(k);
    let values = ids.iter().map(|id| logits[*id as usize]).collect();
    (ids, values)
}

#[test]
fn the_largest_logits_give_the_choice_of_all() {
    let bans = |ids: &[u32]| ids.iter().map(|id| (*id, f32::NEG_INFINITY)).collect();
    let xtc = crate::Xtc { probability: 0.5, threshold: 0.1 };
    let mirostat = Mirostat::V1 { tau: 5.0, eta: 0.1 };
    let cases = [
        (Params::greedy(), 1),
        (Params { logit_bias: bans(&[96, 193, 7]), ..Params::greedy() }, 4),
        (Params::default(), 40),
        (Params { logit_bias: bans(&[96]), typical_p: 0.8, ..Params::default() }, 41),
        (Params { xtc, top_k: 7, ..Params::default() }, 7),
        (Params { mirostat, ..Params::greedy() }, 1),
    ];
    for (params, k) in cases {
        let mut whole = Chain::new(params, 300).expect("valid parameters");
        let mut ranked = whole.clone();
        assert_eq!(ranked.ranked(), Some(k));
        for step in 0..200u32 {
            let value = |i: u32| ((i * 31 + step * 17) % 97) as f32 * 0.1;
            let logits: Vec<f32> = (0..300).map(value).collect();
            // What is more than needed changes nothing.
            let (ids, values) = largest(&logits, k + step as usize % 3);
            let expected = whole.sample(&logits, &[], None).expect("a token").token;
            assert_eq!(ranked.sample_ranked(&ids, &values).expect("a token"), expected);
        }
        assert_eq!(ranked.position(), whole.position());
    }
}

#[test]
fn the_largest_logits_are_not_enough_for_all_chains() {
    let penalties = Penalties { repeat: 1.1, ..Params::default().penalties };
    let unranked = [
        Params { penalties, ..Params::greedy() },
        Params { logit_bias: vec![(3, 1.0)], ..Params::greedy() },
        Params { dry: Dry { multiplier: 0.8, ..Params::default().dry }, ..Params::greedy() },
        Params { top_k: 0, ..Params::default() },
        Params { top_n_sigma: 1.0, ..Params::default() },
        Params { mirostat: Mirostat::V2 { tau: 5.0, eta: 0.1 }, ..Params::default() },
    ];
    for params in unranked {
        assert_eq!(Chain::new(params, 300).expect("valid parameters").ranked(), None);
    }
    let mut chain = Chain::new(Params::greedy(), 300).expect("valid parameters");
    for (ids, values) in [([-1], [f32::NAN]), ([5], [f32::INFINITY])] {
        let error = chain.sample_ranked(&ids, &values);
        assert!(matches!(error, Err(Error::NumericFault { .. })), "{error:?}");
    }
    assert!(matches!(chain.sample_ranked(&[], &[]), Err(Error::Length { found: 0, .. })));
    assert_eq!(chain.position(), 0);
}
