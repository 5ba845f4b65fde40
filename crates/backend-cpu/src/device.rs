//! The device: weights, states, loaded splits, two steps in flight.
//!
//! `submit` only notes a step and copies its imports. `wait` does the work, in the order of the
//! tickets, asking its limit between launches and, inside long ones, between tasks. Results stay
//! readable until the next submit but one.

mod steps;

use std::sync::Arc;

use minfer_graph::ValueId;
use minfer_plan::{
    Device, DeviceError, Done, IN_FLIGHT, Inputs, Layout, Limit, LoadedSplit, PlacedState,
    PlacedWeight, Region, Split, StateHandle, Steps, Target, Ticket, Trail,
};

use crate::call::Lists;
use crate::prepare::{Bases, Loaded};
use crate::rotation::Rotations;
use crate::simd::{self, Isa, Simd};
use crate::state::{States, pools};
use crate::sys::{Arena, Pool};
use crate::target::CpuTarget;
use crate::weights::Weights;

/// What the host decides about the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuOptions {
    /// Threads that share each launch, the waiting one among them; 0 means one per processor.
    pub threads: usize,
    /// Instruction set to use instead of the best that is here.
    pub isa: Option<Isa>,
}

/// The host's processor.
pub struct Cpu {
    target: CpuTarget,
    simd: Simd,
    pool: Pool,
    weights: Weights,
    /// Each with what it was made of, to be made again.
    states: Vec<(Vec<PlacedState>, States)>,
    loaded: Vec<Loaded>,
    arena: Arena,
    /// Bytes of the arena proper; two staging areas of `staging` bytes follow it.
    arena_bytes: usize,
    staging_bytes: usize,
    rotations: Rotations,
    lists: Lists,
    steps: Steps<Arc<Inputs>>,
    /// The resolved token ids of the step that runs.
    tokens: Vec<i32>,
    trail: Trail,
}

impl std::fmt::Debug for Cpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cpu").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Cpu {
    /// The device with these options. Fails where the processor lacks the instruction set or
    /// threads cannot be had.
    pub fn new(options: CpuOptions) -> Result<Cpu, DeviceError> {
        let name = simd::processor();
        let failed = |reason: String| DeviceError::Failed {
            device: name.clone(),
            reason,
            recent: Vec::new(),
        };
        let isa = options.isa.unwrap_or_else(Isa::best);
        let lacks = || failed(format!("this processor does not have {}", isa.name()));
        let simd = Simd::new(isa).ok_or_else(lacks)?;
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        };
        let pool = Pool::new(threads);
        let pool = pool.map_err(|error| failed(format!("{threads} threads: {error}")))?;
        let arena = Arena::new(0).ok_or_else(|| failed("no memory at all".to_owned()))?;
        let target = CpuTarget::new(name, isa, pool.workers());
        Ok(Cpu {
            target,
            simd,
            pool,
            weights: Weights::default(),
            states: Vec::new(),
            loaded: Vec::new(),
            arena,
            arena_bytes: 0,
            staging_bytes: 0,
            rotations: Rotations::default(),
            lists: Lists::default(),
            steps: Steps::default(),
            tokens: Vec::new(),
            trail: Trail::default(),
        })
    }

    fn name(&self) -> String {
        self.target.caps().name.clone()
    }

    fn unknown(&self, what: &'static str, id: u64) -> DeviceError {
        DeviceError::Unknown { device: self.name(), what, id }
    }

    /// Offsets of the areas that a step in staging slot `slot` uses.
    fn bases(&self, slot: usize) -> Bases {
        Bases { arena: 0, staging: self.arena_bytes + slot * self.staging_bytes }
    }

    /// Makes the buffer large enough for one more split. Results that may still be read move along.
    fn grow(&mut self, split: &Split) -> Result<(), DeviceError> {
        let arena_bytes = self.arena_bytes.max(split.memory.arena_bytes.next_multiple_of(64));
        let staging_bytes = self.staging_bytes.max(split.memory.staging_bytes.next_multiple_of(64));
        if (arena_bytes, staging_bytes) == (self.arena_bytes, self.staging_bytes) {
            return Ok(());
        }
        let requested = staging_bytes.checked_mul(2).and_then(|both| both.checked_add(arena_bytes));
        let arena = requested.and_then(Arena::new);
        let mut arena = arena.ok_or_else(|| DeviceError::OutOfMemory {
            device: self.name(),
            what: "arena".to_owned(),
            requested: requested.unwrap_or(usize::MAX) as u64,
        })?;
        for slot in 0..IN_FLIGHT {
            let from = self.bases(slot).staging;
            let to = arena_bytes + slot * staging_bytes;
            let old = self.arena.get(from..from + self.staging_bytes);
            let new = arena.get_mut(to..to + self.staging_bytes);
            if let (Some(old), Some(new)) = (old, new) {
                new.copy_from_slice(old);
            }
        }
        (self.arena, self.arena_bytes, self.staging_bytes) = (arena, arena_bytes, staging_bytes);
        Ok(())
    }
}

impl Device for Cpu {
    fn target(&self) -> &dyn Target {
        &self.target
    }

    fn weights(
        &mut self,
        regions: &[Region],
        weights: &[PlacedWeight],
    ) -> Result<Vec<Layout>, DeviceError> {
        self.weights = Weights::new(&self.name(), regions, weights)?;
        Ok(vec![Layout::File; weights.len()])
    }

    fn state(&mut self, states: &[PlacedState]) -> Result<StateHandle, DeviceError> {
        let made = pools(&self.name(), states)?;
        self.states.push((states.to_vec(), made));
        Ok(StateHandle(self.states.len() as u32 - 1))
    }

    fn load(&mut self, split: Arc<Split>, state: StateHandle) -> Result<LoadedSplit, DeviceError> {
        let states = self.states.get(state.0 as usize);
        let (_, states) = states.ok_or_else(|| self.unknown("state", u64::from(state.0)))?;
        let loaded = Loaded::new(&self.name(), split, state, &self.weights, states)?;
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
        self.accept(split, inputs, imports)
    }

    fn wait(&mut self, ticket: Ticket, limit: &Limit<'_>) -> Result<Done, DeviceError> {
        self.finish(&ticket, limit)
    }

    fn read(&self, done: &Done, value: ValueId) -> Result<&[u8], DeviceError> {
        let unknown = || self.unknown("exported value", u64::from(value.0));
        let finished = self.steps.finished(done.ticket);
        let finished = finished.ok_or_else(|| self.unknown("ticket", done.ticket))?;
        let split = &self.loaded[finished.split].split;
        let placed = split.exported(value).ok_or_else(unknown)?;
        let range = self.bases(finished.slot).range(&placed, &finished.counts);
        self.arena.get(range).ok_or_else(unknown)
    }

    fn copy_page(
        &mut self,
        state: StateHandle,
        group: usize,
        from: u32,
        to: u32,
    ) -> Result<(), DeviceError> {
        let unknown = self.unknown("state", u64::from(state.0));
        let missing = self.unknown("KV page", u64::from(from.max(to)));
        let (_, states) = self.states.get_mut(state.0 as usize).ok_or(unknown)?;
        let copied = states.of_group_mut(group).all(|pool| pool.copy(from, to));
        if copied { Ok(()) } else { Err(missing) }
    }

    fn recover(&mut self) -> Result<(), DeviceError> {
        let name = self.name();
        for (placed, states) in &mut self.states {
            // The old pools go first: both may not fit.
            *states = States::default();
            *states = pools(&name, placed)?;
        }
        self.steps.clear();
        self.trail.clear();
        Ok(())
    }
}
