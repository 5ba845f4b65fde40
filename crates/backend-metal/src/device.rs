//! The device: weights, states, loaded splits, two steps in flight.
//!
//! A step is copies of promised token ids, then every launch of its split, with barriers where two
//! launches touch the same bytes: in one command buffer, or a long prompt's in several. `submit`
//! encodes and commits; `wait` waits for the completions, bounded. Results stay readable until the
//! next submit but one.

mod areas;
mod encode;
mod inputs;
mod pipelines;
mod prepare;
mod state;
mod steps;
mod weights;

use std::path::PathBuf;
use std::sync::Arc;

use minfer_graph::ValueId;
use minfer_plan::{
    Device, DeviceError, Done, Inputs, KernelInfo, Layout, Limit, LoadedSplit, PlacedState,
    PlacedWeight, Region, Split, StateHandle, Steps, Target, Ticket, Trail,
};

use crate::options::{MetalOptions, Metallib};
use crate::spans::Spans;
use crate::sys::{Capture, Completion, Gpu, Residency};
use crate::target::MetalTarget;
use areas::Areas;
use pipelines::Pipelines;
use prepare::Loaded;
use state::{States, page_copies, pools};
use steps::Work;
use weights::Weights;

/// An Apple GPU.
pub struct Metal {
    target: MetalTarget,
    options: MetalOptions,
    gpu: Gpu,
    pipelines: Pipelines,
    weights: Weights,
    /// Each with what it was made of, to be made again.
    states: Vec<(Vec<PlacedState>, States)>,
    loaded: Vec<Loaded>,
    areas: Areas,
    steps: Steps<Work>,
    /// Copies of KV pages that nobody has waited for yet.
    copies: Vec<Completion>,
    trail: Trail,
    residency: Option<Residency>,
    /// Whether what is here is held resident.
    wired: bool,
    tracing: Tracing,
}

/// The trace that was asked for.
enum Tracing {
    /// None, or it was taken.
    Off,
    /// It begins with the first step.
    Wanted(PathBuf),
    /// It ends when the device rests, or goes.
    Running { _capture: Capture },
}

impl std::fmt::Debug for Metal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metal").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Metal {
    /// The system's GPU. Fails where there is none, where the library is none, and where no trace
    /// can be written.
    pub fn new(mut options: MetalOptions) -> Result<Metal, DeviceError> {
        let failed = |reason: String| DeviceError::Failed {
            device: "metal".to_owned(),
            reason,
            recent: Vec::new(),
        };
        let gpu =
            Gpu::open().ok_or_else(|| failed("this machine has no Metal device".to_owned()))?;
        let tracing = match options.capture.take() {
            None => Tracing::Off,
            Some(path) => {
                let named = |why| failed(format!("no trace in {}: {why}", path.display()));
                Capture::check(&path).map_err(named)?;
                Tracing::Wanted(path)
            }
        };
        let given = options.metallib.take();
        let origin = given.as_ref().map(|given| format!("kernels of {}", given.name));
        let metallib = given.or_else(Metallib::embedded);
        let origin = origin.unwrap_or_else(|| match &metallib {
            Some(_) => "precompiled kernels".to_owned(),
            None => "kernels compiled from source".to_owned(),
        });
        let pipelines = Pipelines::new(&gpu, metallib).map_err(failed)?;
        let target = MetalTarget::new(gpu.limits(), options.staging);
        let target = target.with_tune(options.tune).with_feature(&origin);
        let residency = Residency::new(&gpu);
        Ok(Metal {
            target,
            options,
            gpu,
            pipelines,
            weights: Weights::default(),
            states: Vec::new(),
            loaded: Vec::new(),
            areas: Areas::default(),
            steps: Steps::default(),
            copies: Vec::new(),
            trail: Trail::default(),
            residency,
            wired: false,
            tracing,
        })
    }

    /// Begins the trace that was asked for.
    fn trace(&mut self) -> Result<(), DeviceError> {
        let Tracing::Wanted(path) = &self.tracing else { return Ok(()) };
        let begun = Capture::begin(&self.gpu, path);
        let begun =
            begun.map_err(|why| self.failed(format!("no trace in {}: {why}", path.display())));
        self.tracing = Tracing::Running { _capture: begun? };
        Ok(())
    }

    /// Ends it.
    fn end_trace(&mut self) {
        if matches!(self.tracing, Tracing::Running { .. }) {
            self.tracing = Tracing::Off;
        }
    }

    /// Bytes that are held resident at the moment.
    pub fn resident_bytes(&self) -> u64 {
        let held = self.residency.as_ref().filter(|_| self.wired);
        held.map_or(0, Residency::bytes)
    }

    fn name(&self) -> String {
        self.target.caps().name.clone()
    }

    fn unknown(&self, what: &'static str, id: u64) -> DeviceError {
        DeviceError::Unknown { device: self.name(), what, id }
    }

    fn failed(&self, reason: impl ToString) -> DeviceError {
        let reason = reason.to_string();
        DeviceError::Failed { device: self.name(), reason, recent: self.recent() }
    }

    /// Names of the last launches that were waited for, newest last.
    fn recent(&self) -> Vec<String> {
        self.trail.names(|split| &self.loaded[split].split)
    }

    fn no_memory(&self, what: impl Into<String>, bytes: usize) -> DeviceError {
        let requested = bytes as u64;
        DeviceError::OutOfMemory { device: self.name(), what: what.into(), requested }
    }

    /// Holds everything resident, until the device rests.
    fn wire(&mut self) {
        let Some(residency) = self.residency.as_ref().filter(|_| !self.wired) else { return };
        let pools = self.states.iter().flat_map(|(_, states)| states.all());
        let pools = pools.flat_map(|pool| [&pool.key.buffer, &pool.value.buffer]);
        residency.hold(self.weights.buffers().iter().chain(pools).chain(self.areas.buffers()));
        self.wired = true;
    }

    /// Makes everything again, on a GPU that works.
    fn rebuild(&mut self) -> Result<(), DeviceError> {
        let gone = "this machine has no Metal device any more";
        self.gpu = Gpu::open().ok_or_else(|| self.failed(gone))?;
        self.residency = Residency::new(&self.gpu);
        let name = self.name();
        self.weights.make(&self.gpu, &name, &self.options)?;
        for (placed, states) in &mut self.states {
            *states = pools(&self.gpu, &name, placed)?;
        }
        for loaded in &self.loaded {
            let grown = self.areas.grow(&self.gpu, &loaded.split.memory);
            grown.map_err(|(what, bytes)| self.no_memory(what, bytes))?;
            for launch in loaded.launches() {
                let made = self.pipelines.make(&self.gpu, launch);
                made.map_err(|reason| self.failed(reason))?;
            }
        }
        Ok(())
    }
}

impl Device for Metal {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        prepare::check_weights(&self.target, regions, weights)?;
        let longest = usize::try_from(self.target.limits().max_buffer_length);
        let longest = longest.unwrap_or(usize::MAX);
        let planned = Spans::plan(weights, longest).map_err(|weight| {
            let (bytes, name) = (weight.decl.bytes(), weight.decl.name.clone());
            let reason = format!("it has {bytes} bytes, but a buffer has at most {longest}");
            DeviceError::Weight { device: self.name(), name, reason }
        })?;
        self.weights = Weights::new(regions, planned);
        let name = self.name();
        self.weights.make(&self.gpu, &name, &self.options)?;
        if self.options.warm_up {
            self.weights.warm_up();
        }
        self.wired = false;
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        let made = pools(&self.gpu, &self.name(), states)?;
        self.states.push((states.to_vec(), made));
        self.wired = false;
        Ok(StateHandle(self.states.len() as u32 - 1))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        let (_, states) = self
            .states
            .get(state.0 as usize)
            .ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        let loaded = Loaded::new(&self.target, split, state, &self.weights, states)?;
        for launch in loaded.launches() {
            let made = self.pipelines.make(&self.gpu, launch);
            made.map_err(|reason| self.failed(reason))?;
        }
        let memory = &loaded.split.memory;
        let grown = self.areas.grow(&self.gpu, memory);
        grown.map_err(|(what, bytes)| self.no_memory(what, bytes))?;
        self.wired = false;
        self.loaded.push(loaded);
        Ok(LoadedSplit(self.loaded.len() as u32 - 1))
    }

    fn submit(
        &mut self,
        split: LoadedSplit,
        inputs: Arc<Inputs>,
        imports: &[&[u8]],
    ) -> Result<Ticket, DeviceError> {
        self.accept(split, &inputs, imports)
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        self.finish(&ticket, limit)
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        let unknown = || self.unknown("exported value", u64::from(value.0));
        let finished = self.steps.finished(done.ticket);
        let finished = finished.ok_or_else(|| self.unknown("ticket", done.ticket))?;
        let placed = self.loaded[finished.split].split.exported(value).ok_or_else(unknown)?;
        let staging = self.areas.staging[finished.slot].as_ref().ok_or_else(unknown)?;
        staging.bytes(placed.live(&finished.counts)).ok_or_else(unknown)
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        let (_, states) = self
            .states
            .get(state.0 as usize)
            .ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        let copies = page_copies(states, group, from, to)
            .ok_or_else(|| self.unknown("KV page", u64::from(from.max(to))))?;
        let commands = self.commands()?;
        if !commands.copy(&copies) {
            return Err(self.failed("a copy of a KV page could not be encoded"));
        }
        // Later steps come after it on the queue, so it is waited for with the next of them.
        self.copies.push(commands.commit());
        Ok(())
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        self.steps.clear();
        self.copies.clear();
        self.trail.clear();
        self.end_trace();
        // What is old goes first: both may not fit. Steps of the old queue keep what they use.
        self.wired = false;
        self.pipelines.clear();
        self.weights.clear();
        self.states.iter_mut().for_each(|(_, states)| *states = States::default());
        self.areas = Areas::default();
        self.rebuild()
    }

    fn rest(&mut self) {
        if let Some(residency) = self.residency.as_ref().filter(|_| self.wired) {
            residency.release();
        }
        self.wired = false;
        self.end_trace();
    }

    fn kernels(&mut self) -> Result<Vec<KernelInfo>, DeviceError> {
        self.pipelines.make_all(&self.gpu).map_err(|reason| self.failed(reason))
    }
}
