//! What the tests share: tiny models, requests, clocks, and devices that can be watched.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use minfer_backend_cpu::{Cpu, CpuOptions, CpuTarget, Isa};
use minfer_conformance::tiny_file;
use minfer_engine::{
    Clock, Completion, Engine, EngineOptions, Params, Placement, Request, TargetId,
};
use minfer_gguf::File;
use minfer_graph::{Op, StateDecl, ValueId, WeightDecl};
use minfer_plan::{
    Caps, Device, DeviceError, Done, Inputs, Io, Launch, Layout, Limit, LoadedSplit, PlacedState,
    PlacedWeight, Region, Split, StateHandle, Target, Ticket, Unsupported,
};
use minfer_quant::{DType, Quant};

pub const ARCHITECTURES: [&str; 5] = ["llama", "qwen2", "qwen3", "gemma3", "qwen3moe"];

/// An engine on a CPU with two threads.
pub fn engine(architecture: &str, options: EngineOptions) -> Engine {
    let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
    Engine::from_file(file, options).unwrap()
}

/// Options for a small context.
pub fn options() -> EngineOptions {
    EngineOptions { context: Some(256), threads: 2, ..EngineOptions::default() }
}

/// An engine whose only device is `wrap` around a CPU.
pub fn engine_on(
    architecture: &str,
    options: EngineOptions,
    wrap: impl FnOnce(Cpu) -> Box<dyn Device>,
) -> Result<Engine, minfer_engine::Error> {
    let file = File::from_bytes(tiny_file(architecture, Quant::Q8_0)).unwrap();
    let layers = minfer_models::open(&file).unwrap().config().layers;
    let device = wrap(cpu(1));
    Engine::with_devices(file, vec![device], Placement::whole(TargetId(0), layers), options)
}

pub fn cpu(threads: usize) -> Cpu {
    Cpu::new(CpuOptions { threads, isa: None }).unwrap()
}

/// Ids of ordinary tokens.
pub fn prompt(seed: u64, len: usize) -> Vec<u32> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9) + 1);
    (0..len).map(|_| 3 + random.below(280) as u32).collect()
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

/// The result of a request, with nothing beside it.
pub fn run(engine: &mut Engine, request: Request) -> Completion {
    engine.generate(request, &mut |_| ()).unwrap()
}

/// A clock that tests move; with a tick it also moves by itself each time it is asked.
#[derive(Debug, Default)]
pub struct ManualClock {
    nanoseconds: AtomicU64,
    tick: u64,
}

impl ManualClock {
    pub fn ticking(tick: Duration) -> Arc<ManualClock> {
        let tick = tick.as_nanos() as u64;
        Arc::new(ManualClock { nanoseconds: AtomicU64::new(0), tick })
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.fetch_add(self.tick, Ordering::Relaxed))
    }
}

/// A small generator of numbers (splitmix64), the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end as u64) as usize
    }

    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }
}

/// Looks at each call that can fail before it is made; an error is what the call gives instead.
pub type Look = Arc<dyn Fn(&'static str) -> Result<(), DeviceError> + Send + Sync>;

/// A device that tells what is asked of it.
pub struct Watched {
    pub inner: Box<dyn Device>,
    /// What it says it is, where that is not what is inside.
    pub target: Option<Box<dyn Target>>,
    pub look: Look,
}

impl Device for Watched {
    fn target(&self) -> &dyn Target {
        self.target.as_deref().unwrap_or(self.inner.target())
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        (self.look)("weights")?;
        self.inner.weights(regions, weights)
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        (self.look)("state")?;
        assert!(states.iter().all(|state| matches!(state.decl, StateDecl::Paged { .. })));
        self.inner.state(states)
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        (self.look)("load")?;
        self.inner.load(split, state)
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        (self.look)("submit")?;
        self.inner.submit(split, inputs, imports)
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        (self.look)("wait")?;
        self.inner.wait(ticket, limit)
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        (self.look)("read")?;
        self.inner.read(done, value)
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        (self.look)("copy_page")?;
        self.inner.copy_page(state, group, from, to)
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        (self.look)("recover")?;
        self.inner.recover()
    }
}

/// A CPU that says of itself what GPUs do: a submitted step runs while the host goes on, and bits
/// depend on who else is served.
pub struct Overlapping {
    inner: Cpu,
    target: OverlappingTarget,
    /// Steps on their way.
    flying: usize,
    /// Steps that began before the one before them was known.
    pub ahead: Arc<AtomicU64>,
    /// Bytes of results that were asked for.
    pub read: Arc<AtomicU64>,
}

struct OverlappingTarget {
    caps: Caps,
    inner: CpuTarget,
}

impl Overlapping {
    pub fn new(threads: usize) -> Overlapping {
        let inner = cpu(threads);
        let caps = inner.target().caps().clone();
        let caps = Caps { overlaps: true, batch_invariant: false, ..caps };
        let plans = CpuTarget::new(caps.name.clone(), Isa::best(), caps.threads);
        let target = OverlappingTarget { caps, inner: plans };
        Overlapping { inner, target, flying: 0, ahead: Arc::default(), read: Arc::default() }
    }
}

impl Target for OverlappingTarget {
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

impl Device for Overlapping {
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
        let ticket = self.inner.submit(split, inputs, imports)?;
        self.ahead.fetch_add(u64::from(self.flying > 0), Ordering::Relaxed);
        self.flying += 1;
        Ok(ticket)
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        self.flying -= 1;
        self.inner.wait(ticket, limit)
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        let bytes = self.inner.read(done, value)?;
        self.read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        assert_eq!(self.flying, 0, "this device copies at once, before what is on its way");
        self.inner.copy_page(state, group, from, to)
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        self.flying = 0;
        self.inner.recover()
    }
}
