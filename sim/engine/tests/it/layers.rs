//! Layers spread over the GPU and the CPU.

use minfer_conformance::tiny_file;
use minfer_gguf::File;
use minfer_quant::Quant;

use crate::tiny::{ARCHITECTURES, assert_near, engine, expected, logits};

#[test]
fn any_number_of_layers_on_the_gpu_gives_the_same_numbers() {
    for architecture in ARCHITECTURES {
        let open = || File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
        let expected = expected(open());
        let layers = minfer_models::open(&open()).unwrap().config().layers;
        // One more than there are brings the head along.
        for wanted in 0..=layers + 1 {
            let mut engine = engine(open(), |options| options.gpu_layers = Some(wanted));
            let memory = engine.memory().unwrap();
            let on_gpu = memory.devices[0].layers;
            assert_eq!(on_gpu, wanted.min(layers), "{architecture}: {memory:?}");
            let what = format!("{architecture}, {wanted} of {layers} layers");
            assert_near(&expected, &logits(&mut engine), &what);
        }
    }
}
