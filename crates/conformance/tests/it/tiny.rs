//! Tiny models of every architecture: fused or not, on one device or two, the bits are the same.

use minfer_conformance::{Seeded, TinyRun, run_tiny, tiny_file};
use minfer_gguf::File;
use minfer_graph::KvTypes;
use minfer_models::arch::ARCHITECTURES;
use minfer_plan::{Device, Options, TargetId};
use minfer_quant::{KvType, Quant};
use minfer_reference::{Mode, Reference};

fn devices(count: usize) -> Vec<Box<dyn Device>> {
    (0..count).map(|_| Box::new(Reference::new(Mode::Canonical)) as Box<dyn Device>).collect()
}

fn bits(logits: &[f32]) -> Vec<u32> {
    logits.iter().map(|v| v.to_bits()).collect()
}

fn tokens(count: usize) -> Vec<u32> {
    let mut seeded = Seeded::new(7);
    (0..count).map(|_| seeded.below(288) as u32).collect()
}

fn run(kv: KvType, chunks: Vec<usize>, options: Options, layers: Vec<TargetId>) -> TinyRun {
    TinyRun { kv: KvTypes { key: kv, value: kv }, chunks, options, layers }
}

#[test]
fn fusion_changes_no_bit() {
    for architecture in ARCHITECTURES {
        let file = File::from_bytes(tiny_file(architecture.name, Quant::Q4_1)).expect("opens");
        let layers = minfer_models::open(&file).expect("a model").config().layers;
        let on_one = vec![TargetId(0); layers];
        let tokens = tokens(40);
        let fused = run(KvType::F16, vec![33, 1], Options::default(), on_one.clone());
        let plain = Options { fusions: vec![], ..Options::default() };
        let plain = run(KvType::F16, vec![40], plain, on_one);
        let fused = run_tiny(&file, devices(1), &tokens, &fused).expect("runs");
        let plain = run_tiny(&file, devices(1), &tokens, &plain).expect("runs");
        assert_eq!(bits(&fused), bits(&plain), "{}", architecture.name);
        assert!(plain.iter().all(|v| v.is_finite()), "{}", architecture.name);
    }
}

#[test]
fn placement_changes_no_bit() {
    let file = File::from_bytes(tiny_file("gemma3", Quant::Q8_0)).expect("opens");
    let layers = minfer_models::open(&file).expect("a model").config().layers;
    let tokens = tokens(35);
    let whole = run(KvType::Q8_0, vec![20], Options::default(), vec![TargetId(0); layers]);
    let whole = bits(&run_tiny(&file, devices(1), &tokens, &whole).expect("runs"));
    let mut seeded = Seeded::new(50);
    for _ in 0..50 {
        let placed = (0..layers).map(|_| TargetId(seeded.below(2) as u32)).collect();
        let split = run(KvType::Q8_0, vec![20], Options::default(), placed);
        let logits = run_tiny(&file, devices(2), &tokens, &split).expect("runs");
        assert_eq!(bits(&logits), whole, "{:?}", split.layers);
    }
}

#[test]
fn every_format_runs() {
    for &quant in Quant::ALL {
        let file = File::from_bytes(tiny_file("llama", quant)).expect("opens");
        let one = run(KvType::F32, vec![5], Options::default(), vec![TargetId(0); 2]);
        let logits = run_tiny(&file, devices(1), &tokens(5), &one).expect("runs");
        assert!(logits.iter().all(|v| v.is_finite()), "{}", quant.name());
    }
}
