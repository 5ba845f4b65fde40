//! SmolLM2 and Gemma 3 on the simulated GPU, held to double precision and to llama.cpp's text.

use minfer_engine::{
    DeviceChoice, Engine, EngineOptions, Event, FinishReason, Params, Request, SequenceId, Staging,
};

use crate::data::{BOTH, GEMMA3, Golden, Prompt, SMOLLM2, divergence, log_sum_exp, worst};
use crate::text::{Chosen, compare};

/// Positions of the long text that are computed: past tiles and pages.
const LENGTH: usize = 129;

/// Largest difference of a logit from double precision with f32 operands.
const EXACT: f64 = 1e-3;

/// The same with operands rounded to half precision.
const HALF: f64 = 0.05;

/// Greedy tokens of each prompt.
const GREEDY: usize = 4;

fn engine(golden: Golden, change: impl FnOnce(&mut EngineOptions)) -> Engine {
    golden.engine(|options| {
        options.device = DeviceChoice::MetalSim;
        options.threads = 2;
        change(options);
    })
}

fn exact(options: &mut EngineOptions) {
    options.exact = true;
}

/// Operands of many rows rounded, and the cache that there is by default.
fn half(options: &mut EngineOptions) {
    options.metal.staging = Staging::Half;
}

/// The logits after the reference's positions of the long text's beginning, within `allowed`, and
/// after some between.
fn long_rows(golden: Golden, engine: &mut Engine, allowed: f64) -> Vec<Vec<f32>> {
    let (ids, positions) = golden.long();
    let (mut rows, mut checked) = (Vec::new(), 0);
    let sink = &mut |position: usize, logits: &[f32]| {
        if let Some(reference) = positions.iter().find(|p| p.position == position) {
            let sum = (log_sum_exp(logits) - reference.logsumexp).abs();
            let found = worst(logits, &reference.top).max(sum);
            assert!(found <= allowed, "{} position {position}: {found:e}", golden.name);
            checked += 1;
        }
        rows.push(logits.to_vec());
    };
    let wanted = |at: usize| at % 8 == 5 || positions.iter().any(|p| p.position == at);
    engine.score_chunked(&ids[..LENGTH], LENGTH, &wanted, sink).expect("scores");
    assert_eq!(checked, 10, "{}: positions of the reference", golden.name);
    rows
}

fn top_tens(golden: Golden, engine: &mut Engine, allowed: f64) {
    for prompt in golden.prompts() {
        let last = prompt.ids.len() - 1;
        let mut found = f64::INFINITY;
        let sink = &mut |_, logits: &[f32]| found = worst(logits, &prompt.top);
        engine.score(&prompt.ids, last, sink).expect("scores");
        assert!(found <= allowed, "{} {}: {found:e}", golden.name, prompt.name);
    }
}

/// Both kinds of operands against double precision, and half ones against whole ones.
fn logits(golden: Golden, mean_kl: f64) {
    let (mut whole, mut rounded) = (engine(golden, exact), engine(golden, half));
    top_tens(golden, &mut whole, EXACT);
    top_tens(golden, &mut rounded, HALF);
    let whole = long_rows(golden, &mut whole, EXACT);
    let rounded = long_rows(golden, &mut rounded, HALF);
    let divergences = whole.iter().zip(&rounded).map(|(p, q)| {
        let (p_sum, q_sum) = (log_sum_exp(p), log_sum_exp(q));
        divergence(p, p_sum, q, q_sum)
    });
    let found = divergences.sum::<f64>() / whole.len() as f64;
    assert!(found <= mean_kl, "{}: mean KL of half operands {found:e}", golden.name);
}

#[test]
fn logits_of_smollm2() {
    logits(SMOLLM2, 3e-5);
}

#[test]
fn logits_of_gemma3() {
    logits(GEMMA3, 1e-5);
}

/// Greedy tokens of all prompts at once, each prompt's by itself: steps have a row for each.
fn greedy(engine: &mut Engine, prompts: &[Prompt], count: usize) -> Vec<Vec<Chosen>> {
    let submit = |prompt: &Prompt| {
        let request = Request {
            prompt: prompt.ids.clone(),
            sampling: Params::greedy(),
            max_tokens: Some(count),
            logprobs: 20,
            ..Request::default()
        };
        engine.submit(request).expect("submits")
    };
    let sequences: Vec<SequenceId> = prompts.iter().map(submit).collect();
    let mut texts = vec![Vec::new(); prompts.len()];
    while !engine.is_idle() {
        for event in engine.step().expect("steps") {
            match event {
                Event::Token { sequence, id, top, .. } => {
                    let prompt = sequences.iter().position(|known| *known == sequence);
                    texts[prompt.expect("a prompt's")].push((id, top));
                }
                Event::Finished { reason, .. } => {
                    assert!(!matches!(reason, FinishReason::Failed(_)), "{reason:?}");
                }
            }
        }
    }
    texts
}

fn greedy_text(golden: Golden) {
    let prompts = golden.prompts();
    let texts = greedy(&mut engine(golden, exact), &prompts, GREEDY);
    for (prompt, ours) in prompts.iter().zip(&texts) {
        let name = format!("{} {}, f32", golden.name, prompt.name);
        compare(&name, ours, &prompt.exact, golden.exact_spread);
    }
    let texts = greedy(&mut engine(golden, half), &prompts, GREEDY);
    for (prompt, ours) in prompts.iter().zip(&texts) {
        let name = format!("{} {}, half", golden.name, prompt.name);
        compare(&name, ours, &prompt.default, golden.default_spread);
    }
}

#[test]
fn greedy_text_of_both() {
    BOTH.into_iter().for_each(greedy_text);
}
