//! Layers spread over two devices.

use minfer_conformance::tiny_file;
use minfer_engine::{Engine, Placement, TargetId};
use minfer_gguf::File;
use minfer_plan::Device;
use minfer_quant::Quant;

use crate::harness::{Random, cpu, engine, greedy, options, prompt, run};

#[test]
fn fifty_random_placements_give_the_same_hash() {
    let mut whole = engine("gemma3", options());
    let request = greedy(prompt(3, 45), 6);
    let expected = run(&mut whole, request.clone());
    let bytes = tiny_file("gemma3", Quant::Q8_0);
    let layers = whole.model().config().layers;
    let mut random = Random(5);
    let mut most = 0;
    for _ in 0..50 {
        let mut target = || TargetId(random.below(2) as u32);
        let placement = Placement {
            embed: target(),
            layers: (0..layers).map(|_| target()).collect(),
            head: target(),
        };
        let changes = placement.layers.windows(2).filter(|pair| pair[0] != pair[1]).count();
        most = most.max(changes);
        let devices: Vec<Box<dyn Device>> = vec![Box::new(cpu(1)), Box::new(cpu(2))];
        let file = File::from_bytes(bytes.clone()).unwrap();
        let mut engine = Engine::with_devices(file, devices, placement.clone(), options()).unwrap();
        let found = run(&mut engine, request.clone());
        assert_eq!(found.stats.logits_hash, expected.stats.logits_hash, "{placement:?}");
        // A start from the prefix cache copies a page on both.
        let again = run(&mut engine, greedy(prompt(3, 32), 2));
        assert_eq!(again.stats.cached_tokens, 31);
        assert_eq!(
            engine.memory().unwrap().devices.iter().map(|d| d.layers).sum::<usize>(),
            layers
        );
    }
    assert!(most > 3, "some placement went back and forth");
}
