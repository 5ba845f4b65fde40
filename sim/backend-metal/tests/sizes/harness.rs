//! What the tests share: devices on the simulator, tiny models, and what they should give.

use std::time::Duration;

use metal_sim::Mode;
use metal_sim::objc::{self, Settings};
use minfer_backend_metal::{Metal, MetalOptions, Staging};
use minfer_conformance::{Seeded, TinyModel, TinyRun, tiny_file};
use minfer_engine::{Engine, EngineOptions, Params, Placement, Request};
use minfer_gguf::File;
use minfer_graph::KvTypes;
use minfer_plan::{Device, Options, TargetId};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode as ReferenceMode, Reference};

pub const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "gemma3", "qwen3moe"];

/// Tokens that tiny models know.
pub const VOCABULARY: usize = 288;

/// Longest prompt, and tokens decoded after it.
pub const LONGEST: usize = 197;
pub const DECODED: usize = 3;

/// A device on a simulator that runs kernels as fast as it can.
pub fn device(staging: Staging) -> Box<dyn Device> {
    objc::configure(Settings { mode: Mode::Fast, workers: 1, ..Settings::default() });
    // The simulator may be slow, and the machine busy.
    let deadline = Duration::from_secs(300);
    let options = MetalOptions { staging, deadline, ..MetalOptions::default() };
    Box::new(Metal::new(options).unwrap())
}

pub fn reference() -> Box<dyn Device> {
    Box::new(Reference::new(ReferenceMode::F64))
}

/// Ids of ordinary tokens.
pub fn tokens(count: usize) -> Vec<u32> {
    let mut seeded = Seeded::new(11);
    (0..count).map(|_| 3 + seeded.below(280) as u32).collect()
}

/// The file of a tiny model.
pub fn tiny(architecture: &str, quant: Quant) -> Vec<u8> {
    tiny_file(architecture, quant)
}

/// A model, and what the formulas give for a text. A position knows nothing of later ones, so one
/// run is the yardstick of all prompts that the text begins with.
pub struct Yardstick {
    file: File,
    kv: KvType,
    pub tokens: Vec<u32>,
    logits: Vec<f32>,
    vocabulary: usize,
}

impl Yardstick {
    /// The yardstick of a model for so many tokens.
    pub fn new(bytes: Vec<u8>, count: usize, kv: KvType) -> Yardstick {
        let file = File::from_bytes(bytes).unwrap();
        let vocabulary = minfer_models::open(&file).unwrap().config().vocabulary;
        let (tokens, logits) = (tokens(count), Vec::new());
        let mut yardstick = Yardstick { file, kv, tokens, logits, vocabulary };
        let mut model = yardstick.model(reference());
        yardstick.logits = model.prompt(&yardstick.tokens, &[]).unwrap();
        yardstick
    }

    /// The model on a device, with room for the text.
    pub fn model(&self, device: Box<dyn Device>) -> TinyModel {
        self.planned(device, Options::default())
    }

    /// The model as it was written, with all that a step computes.
    pub fn traced(&self, device: Box<dyn Device>) -> TinyModel {
        self.planned(device, Options { keep_all: true, fusions: Vec::new(), ..Options::default() })
    }

    /// The model with room for so many sequences of so many positions.
    pub fn room(&self, device: Box<dyn Device>, room: [usize; 2]) -> TinyModel {
        self.made(device, Options::default(), room)
    }

    fn planned(&self, device: Box<dyn Device>, options: Options) -> TinyModel {
        self.made(device, options, [1, self.tokens.len().max(LONGEST)])
    }

    fn made(&self, device: Box<dyn Device>, options: Options, room: [usize; 2]) -> TinyModel {
        let layers = minfer_models::open(&self.file).unwrap().config().layers;
        let kv = KvTypes { key: self.kv, value: self.kv };
        let run = TinyRun { kv, chunks: Vec::new(), options, layers: vec![TargetId(0); layers] };
        TinyModel::new(&self.file, vec![device], room, &run).unwrap()
    }

    /// Holds logits of consecutive positions to the formulas': a difference may be no larger than
    /// this share of its position's largest logit.
    pub fn hold(&self, first: usize, found: &[f32], share: f32, what: &str) {
        let expected = self.logits.chunks(self.vocabulary).skip(first);
        assert!(found.len().is_multiple_of(self.vocabulary) && !found.is_empty(), "{what}");
        for (row, (expected, found)) in expected.zip(found.chunks(self.vocabulary)).enumerate() {
            let apart = apart(expected, found);
            assert!(apart <= share, "{what}: position {}: {apart:e}", first + row);
        }
    }
}

/// Largest difference, as a share of the largest logit; infinite where one is no number.
pub fn apart(expected: &[f32], found: &[f32]) -> f32 {
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    let differences = expected.iter().zip(found).map(|(e, f)| (e - f).abs());
    let known = differences.map(|apart| if apart.is_nan() { f32::INFINITY } else { apart });
    known.fold(0.0, f32::max) / largest
}

/// A model in an engine whose only device is Metal.
pub fn engine(bytes: Vec<u8>, options: EngineOptions) -> Engine {
    let file = File::from_bytes(bytes).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let placement = Placement::whole(TargetId(0), layers);
    Engine::with_devices(file, vec![device(Staging::Full)], placement, options).unwrap()
}

/// A greedy request of any text, with a fingerprint of its logits.
pub fn greedy(prompt: Vec<u32>, max_tokens: usize) -> Request {
    Request {
        prompt,
        sampling: Params::greedy(),
        max_tokens: Some(max_tokens),
        ignore_eos: true,
        fingerprint: true,
        ..Request::default()
    }
}
