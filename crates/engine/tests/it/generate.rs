//! Generation of one sequence.

use minfer_engine::{DeviceChoice, Engine, EngineOptions, FinishReason, Params, Request};
use minfer_quant::Quant;

use crate::tiny;

#[test]
fn greedy() {
    for architecture in tiny::ARCHITECTURES {
        let options = EngineOptions { device: DeviceChoice::Reference, ..EngineOptions::default() };
        let mut engine = Engine::from_file(tiny::file(architecture, Quant::Q8_0), options).unwrap();
        let prompt =
            engine.encode(&[minfer_engine::Piece { text: "the tea", trusted: false }]).unwrap();
        let request = Request {
            prompt,
            sampling: Params::greedy(),
            max_tokens: Some(20),
            ..Request::default()
        };
        let mut events = 0;
        let done = engine.generate(request, &mut |_| events += 1).unwrap();
        println!("{architecture} {done:?} {events}");
        assert_eq!(done.reason, FinishReason::Length);
    }
}
