//! The normal path (quantized activations, f16 cache) against the exact path.

use crate::data::{BOTH, GEMMA3, Golden, SMOLLM2, divergence, log_sum_exp, read};

/// At the long text's positions: the KL divergence of float64's ten largest and the rest, as eleven
/// classes, is a lower bound of the whole, and all of the probability that matters.
#[test]
fn long_positions() {
    for golden in BOTH {
        let (ids, positions) = golden.long();
        let mut engine = golden.engine(|_| ());
        let wanted = |position| positions.iter().any(|p| p.position == position);
        let sink = &mut |position: usize, logits: &[f32]| {
            let reference = positions.iter().find(|p| p.position == position).expect("wanted");
            let ours = log_sum_exp(logits);
            let (mut kl, mut p_rest, mut q_rest) = (0.0, 1.0, 1.0);
            for &(id, logit) in &reference.top {
                let p = (logit - reference.logsumexp).exp();
                let q = (f64::from(logits[id]) - ours).exp();
                kl += p * (p / q).ln();
                p_rest -= p;
                q_rest -= q;
            }
            let (p_rest, q_rest) = (p_rest.max(1e-12), q_rest.max(1e-12));
            kl += p_rest * (p_rest / q_rest).ln();
            assert!(kl <= 0.1, "{} position {position}: KL {kl}", golden.name);
        };
        engine.score_chunked(&ids, 512, &wanted, sink).expect("scores");
    }
}

const CHUNK: usize = 512;
const CHUNKS: usize = 8;

/// What is expected of a model over the text.
struct Expected {
    /// The exact path's, and how far it may be off.
    perplexity: (f64, f64),
    /// llama.cpp's mean KL of its default path against its exact one over the same positions.
    mean_kl: f64,
    same_top: f64,
}

/// Perplexity of the exact path, and mean KL and share of equal largest logits of the normal path
/// against it, over the second halves of the text's first chunks.
fn perplexity(golden: Golden, expected: Expected) {
    let text = read("perplexity_text.txt");
    let mut exact = golden.engine(|o| o.exact = true);
    let mut normal = golden.engine(|_| ());
    let pieces = [minfer_engine::Piece { text: &text, trusted: false }];
    let ids = exact.encode(&pieces).expect("encodes");
    let bos = exact.tokenizer().bos().filter(|bos| ids.first() == Some(bos));
    let (mut nll, mut predicted, mut kl, mut same, mut count) = (0.0, 0, 0.0, 0, 0);
    for chunk in ids.chunks_exact(CHUNK).take(CHUNKS) {
        let mut chunk = chunk.to_vec();
        if let Some(bos) = bos {
            chunk[0] = bos;
        }
        let first = CHUNK / 2;
        let mut rows: Vec<Vec<f32>> = Vec::with_capacity(CHUNK / 2);
        let sink = &mut |_: usize, logits: &[f32]| rows.push(logits.to_vec());
        exact.score(&chunk, first, sink).expect("scores");
        let mut exactly = rows.into_iter();
        let sink = &mut |position: usize, logits: &[f32]| {
            let exactly = exactly.next().expect("as many rows");
            let (p_sum, q_sum) = (log_sum_exp(&exactly), log_sum_exp(logits));
            if let Some(&target) = chunk.get(position + 1) {
                nll += p_sum - f64::from(exactly[target as usize]);
                predicted += 1;
            }
            kl += divergence(&exactly, p_sum, logits, q_sum);
            same += usize::from(largest(&exactly) == largest(logits));
            count += 1;
        };
        normal.score(&chunk, first, sink).expect("scores");
    }
    assert_eq!(count, CHUNKS * CHUNK / 2);
    let ppl = (nll / f64::from(predicted)).exp();
    let (kl, same) = (kl / count as f64, same as f64 / count as f64);
    let (exactly, within) = expected.perplexity;
    assert!((ppl - exactly).abs() <= within, "{}: exact perplexity {ppl}", golden.name);
    assert!(kl <= expected.mean_kl, "{}: mean KL {kl}", golden.name);
    assert!(same >= expected.same_top, "{}: same largest logit {same}", golden.name);
}

fn largest(logits: &[f32]) -> usize {
    let better = |best: usize, i: usize| if logits[i] > logits[best] { i } else { best };
    (0..logits.len()).fold(0, better)
}

#[test]
fn perplexity_of_smollm2() {
    let expected = Expected { perplexity: (18.342, 0.01), mean_kl: 0.0029, same_top: 0.96 };
    perplexity(SMOLLM2, expected);
}

#[test]
fn perplexity_of_gemma3() {
    let expected = Expected { perplexity: (14.89, 0.02), mean_kl: 0.0047, same_top: 0.95 };
    perplexity(GEMMA3, expected);
}
