use super::Chain;
use crate::{Dry, Mask, Mirostat, Params, Penalties};

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
