//! Greedy text against llama.cpp's.

use minfer_engine::{Engine, Event, Params, Request};

use crate::data::BOTH;
use crate::text::{Chosen, compare};

/// Greedy tokens with the most probable candidates of each.
fn generate(engine: &mut Engine, prompt: &[u32], count: usize) -> Vec<Chosen> {
    let request = Request {
        prompt: prompt.to_vec(),
        sampling: Params { temperature: 0.0, ..Params::default() },
        max_tokens: Some(count),
        logprobs: 20,
        ..Request::default()
    };
    let mut tokens = Vec::new();
    let on_event = &mut |event: &Event| {
        if let Event::Token { id, top, .. } = event {
            tokens.push((*id, top.clone()));
        }
    };
    engine.generate(request, on_event).expect("generates");
    tokens
}

#[test]
fn default_path() {
    for golden in BOTH {
        let mut engine = golden.engine(|_| ());
        for prompt in golden.prompts() {
            let ours = generate(&mut engine, &prompt.ids, 48);
            let name = format!("{} {}", golden.name, prompt.name);
            compare(&name, &ours, &prompt.default, golden.default_spread);
        }
    }
}

#[test]
fn exact_path() {
    for golden in BOTH {
        let mut engine = golden.engine(|o| o.exact = true);
        for prompt in golden.prompts() {
            let ours = generate(&mut engine, &prompt.ids, 48);
            let name = format!("{} {}", golden.name, prompt.name);
            compare(&name, &ours, &prompt.exact, golden.exact_spread);
        }
    }
}
