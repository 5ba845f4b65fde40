//! SmolLM2 and Gemma 3 on the simulated GPU, held to double precision and to llama.cpp's text.

use minfer_engine::{DeviceChoice, Engine, EngineOptions, Staging};

use crate::data::{BOTH, GEMMA3, Golden, SMOLLM2, divergence, log_sum_exp, worst};
use crate::text::{compare, generate};

/// Positions of the long text that are computed: past tiles and pages.
const LENGTH: usize = 129;

/// Largest difference of a logit from double precision with f32 operands.
const EXACT: f64 = 1e-3;

/// The same with operands rounded to half precision.
const HALF: f64 = 0.05;

/// Greedy tokens of each prompt.
const GREEDY: usize = 20;

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

fn half(options: &mut EngineOptions) {
    options.metal.staging = Staging::Half;
}

/// The logits after every position of the long text's beginning, the reference's positions among
/// them within `allowed`.
fn long_rows(golden: Golden, engine: &mut Engine, allowed: f64) -> Vec<Vec<f32>> {
    let (ids, positions) = golden.long();
    let (mut rows, mut checked) = (Vec::new(), 0);
    let sink = &mut |position: usize, logits: &[f32]| {
        if let Some(reference) = positions.iter().find(|p| p.position == position) {
            let found = worst(logits, &reference.top);
            assert!(found <= allowed, "{} position {position}: {found:e}", golden.name);
            checked += 1;
        }
        rows.push(logits.to_vec());
    };
    engine.score(&ids[..LENGTH], 0, sink).expect("scores");
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
    logits(SMOLLM2, 0.0);
}

#[test]
fn logits_of_gemma3() {
    logits(GEMMA3, 0.0);
}

#[test]
fn greedy_text() {
    for golden in BOTH {
        let mut exact = engine(golden, exact);
        let mut half = engine(golden, half);
        for prompt in golden.prompts() {
            let name = format!("{} {}", golden.name, prompt.name);
            let ours = generate(&mut exact, &prompt.ids, GREEDY);
            compare(&name, &ours, &prompt.exact, golden.exact_spread);
            let ours = generate(&mut half, &prompt.ids, GREEDY);
            compare(&name, &ours, &prompt.default, golden.default_spread);
        }
    }
}
