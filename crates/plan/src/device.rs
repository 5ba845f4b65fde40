//! The contract with devices.
//!
//! A [`Target`] is what planning needs of a device: a plain value. A [`Device`] runs planned
//! splits. A device never sees models, files, text or another device. Its numbers obey
//! docs/numerics.md: each output element has one sequence of roundings, a function of the op, its
//! inner dimension and the formats alone, never of batch, chunk, tile, thread count or instruction
//! set (devices that cannot promise this say so in their [`Caps`]).
//!
//! Invariants a device may rely on: a split comes from a verified graph; every launch was given by
//! its own `lower`; [`Inputs::check`](crate::Inputs::check) has passed. It restates them as debug
//! assertions. Invariants it keeps: `submit` never waits; `wait` is bounded by its [`Limit`] and
//! names recent launches when it fails; an error leaves the device able to `recover`; no call ends
//! the process.

mod placed;
mod pools;
mod steps;

use std::sync::Arc;

use minfer_graph::{Op, StateDecl, StateId, ValueId, WeightDecl, WeightId};
use minfer_quant::DType;

use crate::error::DeviceError;
use crate::inputs::Inputs;
use crate::launch::{Io, Launch, Layout, Unsupported};
use crate::program::Split;

pub use placed::PlacedValue;
pub use pools::Pools;
pub use steps::{IN_FLIGHT, Owed, StepRun, Steps, Trail};

/// Families of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The executable definition.
    Reference,
    /// The host's processor.
    Cpu,
    /// An Apple GPU.
    Metal,
    /// An NVIDIA GPU.
    Cuda,
}

impl DeviceKind {
    /// Name in flags and dumps.
    pub fn name(self) -> &'static str {
        match self {
            DeviceKind::Reference => "reference",
            DeviceKind::Cpu => "cpu",
            DeviceKind::Metal => "metal",
            DeviceKind::Cuda => "cuda",
        }
    }
}

/// What a device is and can hold; queried at run time from a real one, a literal profile in tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Caps {
    /// Family.
    pub kind: DeviceKind,
    /// Name for people, such as the processor's.
    pub name: String,
    /// Instruction sets or features in use, for people.
    pub features: String,
    /// Bytes of memory it may use for weights, state and arena; `None` where the host's is meant.
    pub memory_bytes: Option<u64>,
    /// Bytes a second that its memory gives at best, where the device's name tells.
    pub bytes_per_second: Option<f64>,
    /// Alignment of values in the arena, in bytes; a power of two.
    pub value_alignment: usize,
    /// Alignment that kernels need of a weight read in place, in bytes; a power of two.
    pub weight_alignment: usize,
    /// Worker threads (1 where that has no meaning).
    pub threads: usize,
    /// Whether results are independent of batch, chunking and thread count in steps of mixed rows
    /// too. Where not, they are in steps of one kind, see [`minfer_graph::StepKind`].
    pub batch_invariant: bool,
    /// Whether a submitted step runs while the host goes on.
    pub overlaps: bool,
}

/// A choice between variants of kernels that is for measurements to make: numbers do not depend on
/// it beyond what the device's rules of rounding allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its name: an op's, a dot, what is chosen.
    pub name: &'static str,
    /// What is chosen, for people.
    pub about: &'static str,
    /// The values that are worth measuring.
    pub values: &'static [u32],
    /// The value in use.
    pub value: u32,
}

/// A device as the planner sees it. Pure: the same questions get the same answers.
pub trait Target: Send + Sync {
    /// What the device is.
    fn caps(&self) -> &Caps;

    /// The type in which the device wants the activations that `op` multiplies by `weight`.
    fn operand(&self, op: &Op, weight: &WeightDecl) -> DType;

    /// The choices that it leaves to measurements.
    fn choices(&self) -> Vec<Choice> {
        Vec::new()
    }

    /// How the device would run `op`, or why it cannot.
    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported>;
}

/// A part of a model file, mapped or in memory, shared with whoever reads it.
#[derive(Clone)]
pub struct Region(pub Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Region {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Region({} bytes)", self.bytes().len())
    }
}

/// A weight and where its bytes are.
#[derive(Clone, Debug)]
pub struct PlacedWeight {
    /// Its index in the model's list.
    pub id: WeightId,
    /// Name, format and dimensions.
    pub decl: WeightDecl,
    /// Index of its region.
    pub region: usize,
    /// Offset of its first byte in the region.
    pub offset: usize,
}

/// A state and its index in the model's list.
#[derive(Clone, Debug)]
pub struct PlacedState {
    /// Its index in the model's list.
    pub id: StateId,
    /// What it holds.
    pub decl: StateDecl,
    /// Pages to reserve for it (`PerSequence`: sequences).
    pub pages: usize,
}

/// State that a device holds for one engine, shared by all its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StateHandle(pub u32);

/// A split that a device has made ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoadedSplit(pub u32);

/// A submitted split whose results are not known yet. Two may be in flight on a device; they run in
/// the order of their submits. One that is dropped instead of waited for keeps its place until a
/// later one is waited for, and its failure is nobody's.
#[derive(Debug, PartialEq, Eq, Hash)]
#[must_use = "results are read by waiting"]
pub struct Ticket(pub u64);

/// A finished split; its values are read through [`Device::read`] until the next submit but one.
#[derive(Debug, Default)]
pub struct Done {
    /// Which submit it was.
    pub ticket: u64,
    /// Times of the launches, when the inputs asked for a profile.
    pub launches: Vec<LaunchTime>,
    /// Nanoseconds that the host waited for it, on a device that works while the host goes on.
    pub waited: u64,
}

/// Time of one launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchTime {
    /// Index of the step in its split.
    pub step: usize,
    /// Nanoseconds on the device.
    pub nanoseconds: u64,
    /// Nanoseconds in which the host encoded it; 0 where the host runs it.
    pub encoding: u64,
}

/// Why work is to stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Whoever asked no longer wants it.
    Cancelled,
    /// Its time is up.
    Deadline,
}

/// Bound on a wait: asked between launches (a GPU: while polling), from the waiting thread.
#[derive(Clone, Copy)]
pub struct Limit<'a> {
    /// Gives the reason to stop once there is one.
    pub stop: &'a dyn Fn() -> Option<Stop>,
}

impl Limit<'_> {
    /// No bound: for tests and tools that run to the end.
    pub const NONE: Limit<'static> = Limit { stop: &|| None };
}

impl std::fmt::Debug for Limit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Limit")
    }
}

/// A device that runs splits.
pub trait Device: Send {
    /// The device as the planner sees it.
    fn target(&self) -> &dyn Target;

    /// Registers the model's weights; gives the layout of each, in the order of `weights`. Others
    /// may take their place later: splits that were loaded before are not submitted any more.
    /// Bytes are read in place where layout and alignment allow, else copied; a device that repacks
    /// says which pages it no longer needs.
    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError>;

    /// Makes the state of one engine. Memory is zero at first.
    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError>;

    /// Gets a split ready: pipelines, captured graph, arena (one for all splits, as large as the
    /// largest needs).
    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError>;

    /// Encodes and commits a loaded split; never waits. `imports` are the bytes of the split's
    /// imports at the step's live rows, in order. Fails when two tickets are already in flight.
    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError>;

    /// Waits for a ticket, bounded by `limit`; checks the device's status.
    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError>;

    /// Bytes of an export or output of a finished split, at the step's live rows.
    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError>;

    /// Copies KV page `from` to page `to` in every paged state of a group: copy on write.
    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError>;

    /// Brings a failed device back: weights and splits are rebuilt, state is zero again.
    fn recover(&mut self) -> Result<(), DeviceError>;

    /// Told when no request is left: what was kept in memory for speed may go.
    fn rest(&mut self) {}

    /// Makes every kernel that the device has, needed or not, for tests of the device itself; empty
    /// where none is made at run time.
    fn kernels(&mut self) -> Result<Vec<KernelInfo>, DeviceError> {
        Ok(Vec::new())
    }
}

/// A kernel made at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name.
    pub name: String,
    /// Threads of a work group that it can have.
    pub threads_max: usize,
}
