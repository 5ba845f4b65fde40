//! Greedy text against llama.cpp's.

use crate::data::BOTH;
use crate::text::{compare, generate};

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
