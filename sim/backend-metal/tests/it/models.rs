//! Tiny models of every architecture on the device, held to double precision.

use metal_sim::Mode;
use minfer_conformance::{Tolerance, compare, tiny_file, tiny_logits};
use minfer_gguf::File;
use minfer_quant::Quant;
use minfer_reference::{Mode as ReferenceMode, Reference};

use crate::ops::device;

const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "gemma3", "qwen3moe"];

#[test]
fn tiny_models_give_the_logits_of_the_reference() {
    let tokens: Vec<u32> = (0..40).map(|i| 3 + i * 7 % 280).collect();
    for architecture in ARCHITECTURES {
        let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
        let reference = Box::new(Reference::new(ReferenceMode::F64));
        let expected = tiny_logits(&file, reference, &tokens).unwrap();
        let found = tiny_logits(&file, device(Mode::Fast, 0), &tokens);
        let found = found.unwrap_or_else(|error| panic!("{architecture}: {error}"));
        let difference = compare(&expected, &found, Tolerance::Relative(1e-3));
        assert!(difference.is_none(), "{architecture}: {difference:?}");
    }
}
