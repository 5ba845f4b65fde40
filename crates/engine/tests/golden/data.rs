//! Reference data and engines.

use std::path::{Path, PathBuf};

use minfer_engine::{DeviceChoice, Engine, EngineOptions};
use serde_json::Value;

/// A reference model.
#[derive(Clone, Copy)]
pub struct Golden {
    pub name: &'static str,
    file: &'static str,
    /// Largest difference of greedy candidates' logits between llama.cpp's own ways of running this
    /// file.
    pub default_spread: f64,
    /// The same for exact weights: llama.cpp's exact path is itself off float64 by this much.
    pub exact_spread: f64,
}

pub const SMOLLM2: Golden = Golden {
    name: "smollm2",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    default_spread: 1.16,
    exact_spread: 1e-3,
};

pub const GEMMA3: Golden = Golden {
    name: "gemma3",
    file: "gemma-3-270m-q4_k_m.gguf",
    default_spread: 2.1,
    exact_spread: 0.021,
};

pub const BOTH: [Golden; 2] = [SMOLLM2, GEMMA3];

/// (id, logit), largest first.
pub type Top = Vec<(usize, f64)>;

pub struct Prompt {
    pub name: String,
    pub ids: Vec<u32>,
    pub top: Top,
    pub exact: Vec<Greedy>,
    pub default: Vec<Greedy>,
}

/// One greedy step of llama.cpp.
pub struct Greedy {
    pub id: u32,
    /// How far the runner-up is behind.
    pub gap: f64,
}

pub struct Position {
    pub position: usize,
    pub logsumexp: f64,
    pub top: Top,
}

/// The root of the repository, which lies as far from this crate as from the simulator's tests.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A checked-in file of reference data.
pub fn read(name: &str) -> String {
    let path = root().join("crates/engine/tests/data").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Golden {
    fn json(&self) -> Value {
        serde_json::from_str(&read(&format!("{}.json", self.name))).expect("JSON")
    }

    pub fn prompts(&self) -> Vec<Prompt> {
        let greedy = |steps: &Value| {
            let steps = array(steps).iter();
            steps.map(|s| Greedy { id: number(&s[0]) as u32, gap: number(&s[3]) }).collect()
        };
        let prompts = self.json();
        let prompts = array(&prompts["prompts"]).iter().map(|p| Prompt {
            name: p["name"].as_str().expect("a name").to_string(),
            ids: ids(&p["ids"]),
            top: top(&p["top10"]),
            exact: greedy(&p["exact"]),
            default: greedy(&p["default"]),
        });
        prompts.collect()
    }

    pub fn long(&self) -> (Vec<u32>, Vec<Position>) {
        let json = self.json();
        let positions = array(&json["long"]["positions"]).iter().map(|p| Position {
            position: number(&p["position"]) as usize,
            logsumexp: number(&p["logsumexp"]),
            top: top(&p["top10"]),
        });
        (ids(&json["long"]["ids"]), positions.collect())
    }

    /// Path of the model; `cargo xtask models` puts it there.
    fn model(&self) -> PathBuf {
        let path = root().join("target/models").join(self.file);
        assert!(path.exists(), "{} is missing: run `cargo xtask models`", path.display());
        path
    }

    pub fn engine(&self, change: impl FnOnce(&mut EngineOptions)) -> Engine {
        let mut options = EngineOptions {
            device: DeviceChoice::Cpu,
            // The tests run beside each other; pools that wait for their workers would fight over
            // the processors. Numbers do not depend on threads.
            threads: 1,
            context: Some(2048),
            prefix_cache: false,
            ..EngineOptions::default()
        };
        change(&mut options);
        Engine::load(&self.model(), options).expect("the model loads")
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn ids(value: &Value) -> Vec<u32> {
    array(value).iter().map(|id| number(id) as u32).collect()
}

fn top(value: &Value) -> Top {
    array(value).iter().map(|t| (number(&t[0]) as usize, number(&t[1]))).collect()
}

/// Largest distance of the logits from a reference's ten largest.
pub fn worst(logits: &[f32], top: &Top) -> f64 {
    top.iter().map(|&(id, logit)| (f64::from(logits[id]) - logit).abs()).fold(0.0, f64::max)
}

pub fn log_sum_exp(logits: &[f32]) -> f64 {
    let largest = logits.iter().fold(f32::NEG_INFINITY, |m, &l| m.max(l));
    let sum: f64 = logits.iter().map(|&l| f64::from(l - largest).exp()).sum();
    f64::from(largest) + sum.ln()
}

/// The KL divergence of a row of logits from another, each with its log-sum-exp.
pub fn divergence(p: &[f32], p_sum: f64, q: &[f32], q_sum: f64) -> f64 {
    let terms = p.iter().zip(q).map(|(&p, &q)| {
        let log_p = f64::from(p) - p_sum;
        log_p.exp() * (log_p - (f64::from(q) - q_sum))
    });
    terms.sum()
}
