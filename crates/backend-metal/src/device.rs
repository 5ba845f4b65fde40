//! The device: weights, states, loaded splits, two steps in flight.
//!
//! A step is one command buffer: copies of promised token ids, then every launch of its split in
//! one encoder, with barriers where two launches touch the same bytes. `submit` encodes and
//! commits; `wait` waits for the completion, bounded. Results stay readable until the next submit
//! but one.

mod inputs;
mod pipelines;
mod prepare;
mod state;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use minfer_graph::ValueId;
use minfer_plan::{
    Device, DeviceError, Done, Inputs, Layout, Limit, LoadedSplit, PlacedState, PlacedWeight,
    Region, Split, StateHandle, Target, Ticket,
};

use crate::caps::Staging;
use crate::sys::{Buffer, Commands, Gpu};
use crate::target::MetalTarget;
use inputs::InputArea;
use pipelines::Pipelines;
use prepare::Loaded;
use state::States;
use steps::Slots;

/// What the host decides about the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetalOptions {
    /// How many-row matmuls keep their operands.
    pub staging: Staging,
    /// How long a step may take before it is given up.
    pub deadline: Duration,
}

impl Default for MetalOptions {
    fn default() -> MetalOptions {
        MetalOptions { staging: Staging::default(), deadline: Duration::from_secs(10) }
    }
}

/// Steps in flight, and areas that each of them has for itself.
const SLOTS: usize = 2;

/// An Apple GPU.
pub struct Metal {
    target: MetalTarget,
    options: MetalOptions,
    gpu: Gpu,
    pipelines: Pipelines,
    /// One buffer for each region of the model's file.
    regions: Vec<Buffer>,
    weights: Vec<PlacedWeight>,
    /// Each with what it was made of, to be made again.
    states: Vec<(Vec<PlacedState>, States)>,
    loaded: Vec<Loaded>,
    arena: Option<Buffer>,
    staging: [Option<Buffer>; SLOTS],
    inputs: [InputArea; SLOTS],
    slots: Slots,
}

impl std::fmt::Debug for Metal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Metal").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Metal {
    /// The system's GPU. Fails where there is none.
    pub fn new(options: MetalOptions) -> Result<Metal, DeviceError> {
        let gpu = Gpu::open().ok_or_else(|| DeviceError::Failed {
            device: "metal".to_owned(),
            reason: "this machine has no Metal device".to_owned(),
            recent: Vec::new(),
        })?;
        let target = MetalTarget::new(gpu.limits(), options.staging);
        Ok(Metal {
            target,
            options,
            gpu,
            pipelines: Pipelines::default(),
            regions: Vec::new(),
            weights: Vec::new(),
            states: Vec::new(),
            loaded: Vec::new(),
            arena: None,
            staging: [None, None],
            inputs: Default::default(),
            slots: Slots::default(),
        })
    }

    fn name(&self) -> String {
        self.target.caps().name.clone()
    }

    fn unknown(&self, what: &'static str, id: u64) -> DeviceError {
        DeviceError::Unknown { device: self.name(), what, id }
    }

    fn failed(&self, reason: impl ToString) -> DeviceError {
        let recent = self.slots.recent(&self.loaded);
        DeviceError::Failed { device: self.name(), reason: reason.to_string(), recent }
    }

    fn no_memory(&self, what: impl Into<String>, bytes: usize) -> DeviceError {
        let requested = bytes as u64;
        DeviceError::OutOfMemory { device: self.name(), what: what.into(), requested }
    }

    /// Makes the areas large enough for one more split. Steps on their way keep the old ones.
    fn grow(&mut self, split: &Split) -> Result<(), DeviceError> {
        let len = |buffer: &Option<Buffer>| buffer.as_ref().map_or(0, Buffer::len);
        let memory = &split.memory;
        if len(&self.arena) < memory.arena_bytes {
            let arena = self.gpu.buffer(memory.arena_bytes);
            self.arena = Some(arena.ok_or_else(|| self.no_memory("arena", memory.arena_bytes))?);
        }
        for slot in 0..SLOTS {
            if len(&self.staging[slot]) < memory.staging_bytes {
                let larger = self.gpu.buffer(memory.staging_bytes);
                let mut larger =
                    larger.ok_or_else(|| self.no_memory("staging area", memory.staging_bytes))?;
                if let Some(old) = &self.staging[slot] {
                    larger.write(0, old.bytes(0..old.len()).unwrap_or_default());
                }
                self.staging[slot] = Some(larger);
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
        let mut buffers = Vec::with_capacity(regions.len());
        for region in regions {
            let buffer = self.gpu.wrap(region);
            let bytes = region.bytes().len();
            buffers
                .push(buffer.ok_or_else(|| self.no_memory("a part of the model's file", bytes))?);
        }
        (self.regions, self.weights) = (buffers, weights.to_vec());
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        let made = States::new(&self.gpu, &self.name(), states)?;
        self.states.push((states.to_vec(), made));
        Ok(StateHandle(self.states.len() as u32 - 1))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        let (_, states) = self
            .states
            .get(state.0 as usize)
            .ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        let loaded = Loaded::new(&self.target, split, state, &self.weights, states)?;
        for launch in loaded.launches() {
            self.pipelines
                .make(&self.gpu, launch)
                .map_err(|reason| self.failed(format!("kernel {}: {reason}", launch.kernel)))?;
        }
        self.grow(&loaded.split)?;
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
        let finished = self.slots.finished(done.ticket);
        let finished = finished.ok_or_else(|| self.unknown("ticket", done.ticket))?;
        let placed = self.loaded[finished.split].export(value).ok_or_else(unknown)?;
        let staging = self.staging[finished.slot].as_ref().ok_or_else(unknown)?;
        staging.bytes(placed.range(&finished.counts)).ok_or_else(unknown)
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
        let copies = states
            .page_copies(group, from, to)
            .ok_or_else(|| self.unknown("KV page", u64::from(from.max(to))))?;
        let commands = Commands::new(&self.gpu).ok_or_else(|| self.failed("no command buffer"))?;
        if !commands.copy(&copies) {
            return Err(self.failed("a copy of a KV page could not be encoded"));
        }
        // Later steps come after it on the queue, so only its failure is waited for.
        match commands.commit().wait(self.options.deadline) {
            Some(result) => result.map_err(|reason| self.failed(reason)),
            None => Err(DeviceError::Deadline { device: self.name(), recent: Vec::new() }),
        }
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        self.slots.clear();
        self.gpu.renew_queue().ok_or_else(|| self.failed("no new command queue"))?;
        let name = self.name();
        for (placed, states) in &mut self.states {
            // The old pools go first: both may not fit.
            *states = States::default();
            *states = States::new(&self.gpu, &name, placed)?;
        }
        // Steps of the old queue may still write to the old areas.
        for buffer in self.staging.iter_mut().chain([&mut self.arena]).flatten() {
            let bytes = buffer.len();
            let new = self.gpu.buffer(bytes);
            *buffer = new.ok_or_else(|| DeviceError::OutOfMemory {
                device: name.clone(),
                what: "areas of a step".to_owned(),
                requested: bytes as u64,
            })?;
        }
        self.inputs = Default::default();
        Ok(())
    }
}
