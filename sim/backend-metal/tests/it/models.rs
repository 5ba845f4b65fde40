//! Tiny models of every architecture on the device, held to double precision.

use metal_sim::Mode;
use metal_sim::objc::Settings;
use minfer_conformance::{TinyModel, TinyRun, Tolerance, compare, run_tiny, tiny_file};
use minfer_gguf::File;
use minfer_graph::KvTypes;
use minfer_models::arch::ARCHITECTURES;
use minfer_plan::{Device, Options, TargetId};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode as ReferenceMode, Reference};

use crate::ops::{ORDERS, checked, device};

/// A tiny model, and the tokens of its steps.
pub struct Tiny {
    pub name: &'static str,
    file: File,
    run: TinyRun,
    tokens: Vec<u32>,
}

impl Tiny {
    /// Every architecture, its tokens in steps of these sizes.
    pub fn all(chunks: &[usize]) -> Vec<Tiny> {
        let count = chunks.iter().sum::<usize>() as u32;
        let tokens: Vec<u32> = (0..count).map(|i| 3 + i * 7 % 280).collect();
        let tiny = |name| {
            let file = File::from_bytes(tiny_file(name, Quant::Q8_0)).unwrap();
            let layers = minfer_models::open(&file).unwrap().config().layers;
            let kv = KvTypes { key: KvType::F32, value: KvType::F32 };
            let (chunks, options) = (chunks.to_vec(), Options::default());
            let run = TinyRun { kv, chunks, options, layers: vec![TargetId(0); layers] };
            Tiny { name, file, run, tokens: tokens.clone() }
        };
        ARCHITECTURES.iter().map(|architecture| tiny(architecture.name)).collect()
    }

    /// Its logits after each token.
    pub fn logits(&self, device: Box<dyn Device>) -> Result<Vec<f32>, String> {
        run_tiny(&self.file, vec![device], &self.tokens, &self.run)
    }

    /// The model with room for so many sequences of so many positions.
    pub fn at(&self, device: Box<dyn Device>, room: [usize; 2]) -> Result<TinyModel, String> {
        TinyModel::new(&self.file, vec![device], room, &self.run)
    }

    fn expected(&self) -> Vec<f32> {
        self.logits(Box::new(Reference::new(ReferenceMode::F64))).unwrap()
    }
}

#[track_caller]
fn hold(model: &Tiny, settings: Settings, expected: &[f32]) -> Vec<f32> {
    let found = model.logits(device(settings));
    let found = found.unwrap_or_else(|error| panic!("{}: {error}", model.name));
    let difference = compare(expected, &found, Tolerance::Relative(1e-3));
    assert!(difference.is_none(), "{}: {difference:?}", model.name);
    found
}

#[test]
fn tiny_models_give_the_logits_of_the_reference() {
    for model in Tiny::all(&[40]) {
        let fast = Settings { mode: Mode::Fast, workers: 2, ..Settings::default() };
        hold(&model, fast, &model.expected());
    }
}

#[test]
fn no_access_of_a_tiny_model_is_wrong_in_any_order() {
    for model in Tiny::all(&[17, 1, 3, 1]) {
        let expected = model.expected();
        let found = ORDERS.map(|order| hold(&model, checked(order), &expected));
        assert!(found.iter().all(|one| *one == found[0]), "{}: orders differ", model.name);
    }
}
