//! The engine on the device: steps that begin before the one before them is known, and times.

use std::sync::Arc;

use metal_sim::Profile;
use minfer_backend_metal::{Limits, Metal, MetalOptions, MetalTarget, Staging};
use minfer_conformance::tiny_file;
use minfer_engine::{Completion, Engine, EngineOptions, Params, Placement, Request, TargetId};
use minfer_gguf::File;
use minfer_graph::{Op, ValueId, WeightDecl};
use minfer_plan::{
    Caps, Device, DeviceError, Done, Inputs, Io, Launch, Layout, Limit, LoadedSplit, PlacedState,
    PlacedWeight, Region, Split, StateHandle, Target, Ticket, Unsupported,
};
use minfer_quant::{DType, Quant};

use crate::gpu::open;

fn metal() -> Metal {
    let options = MetalOptions { staging: Staging::Full, ..MetalOptions::default() };
    open(Profile::M1, options)
}

/// The device, said to run steps only while it is waited for.
struct Waited {
    inner: Metal,
    target: WaitedTarget,
}

struct WaitedTarget {
    caps: Caps,
    inner: MetalTarget,
}

impl Waited {
    fn new() -> Waited {
        let inner = metal();
        let caps = Caps { overlaps: false, ..inner.target().caps().clone() };
        let plans = MetalTarget::new(Limits::apple7(caps.name.clone()), Staging::Full);
        Waited { inner, target: WaitedTarget { caps, inner: plans } }
    }
}

impl Target for WaitedTarget {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, op: &Op, weight: &WeightDecl) -> DType {
        self.inner.operand(op, weight)
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        self.inner.lower(op, io)
    }
}

impl Device for Waited {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        self.inner.weights(regions, weights)
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        self.inner.state(states)
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        self.inner.load(split, state)
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        self.inner.submit(split, inputs, imports)
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        self.inner.wait(ticket, limit)
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        self.inner.read(done, value)
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        self.inner.copy_page(state, group, from, to)
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        self.inner.recover()
    }
}

fn engine(architecture: &str, device: Box<dyn Device>, profile: bool) -> Engine {
    let file = File::from_bytes(tiny_file(architecture, Quant::Q4_K)).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let place = Placement::whole(TargetId(0), layers);
    let options = EngineOptions { context: Some(160), batch: 64, profile, ..Default::default() };
    Engine::with_devices(file, vec![device], place, options).unwrap()
}

fn run(engine: &mut Engine, prompt: u32, sampling: Params) -> Completion {
    let prompt = (0..prompt).map(|i| 3 + i * 11 % 280).collect();
    let request = Request { prompt, sampling, max_tokens: Some(16), ..Request::default() };
    let ids_alone = engine.generate(request.clone(), &mut |_| ()).unwrap();
    // All logits are read, and hashed, and the text is the same.
    let request = Request { fingerprint: true, ..request };
    let whole = engine.generate(request, &mut |_| ()).unwrap();
    assert_eq!((ids_alone.stats.logits_hash, &ids_alone.tokens), (None, &whole.tokens));
    whole
}

#[test]
fn a_step_that_begins_ahead_gives_the_same_bits() {
    for architecture in ["llama", "gemma3", "qwen3moe"] {
        let mut ahead = engine(architecture, Box::new(metal()), false);
        let mut waited = engine(architecture, Box::new(Waited::new()), false);
        let first = run(&mut waited, 40, Params::greedy());
        assert_eq!(run(&mut ahead, 40, Params::greedy()), first, "{architecture}");
        // The tokens that were chosen are banned, so that what begins ahead is wrong now and then.
        let bias = first.tokens.iter().map(|id| (*id, f32::NEG_INFINITY)).collect();
        let banned = Params { logit_bias: bias, ..Params::greedy() };
        for sampling in [banned, Params { temperature: 1.0, ..Params::default() }] {
            let expected = run(&mut waited, 70, sampling.clone());
            assert_eq!(run(&mut ahead, 70, sampling), expected, "{architecture}");
        }
    }
}

#[test]
fn a_profile_has_the_times_of_gpu_and_host() {
    let mut engine = engine("llama", Box::new(metal()), true);
    let done = run(&mut engine, 40, Params::greedy());
    let rows = engine.profile();
    assert!(rows.iter().all(|row| row.nanoseconds > 0 && row.encoding > 0), "{rows:?}");
    let calls = |op| rows.iter().find(|row| row.op == op).map(|row| row.calls);
    let tokens = done.tokens.len() as u64;
    // Once with ids alone, and once with the logits beside them.
    assert_eq!([calls("top_k"), calls("argmax")], [Some(tokens); 2]);
    let waits = engine.waits();
    assert_eq!(waits.submits, 2 * tokens);
    assert!(waits.nanoseconds > 0);
}
