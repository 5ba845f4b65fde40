//! The programs of an engine: one per bucket of step shapes, planned and loaded when first needed,
//! then kept.

use std::collections::HashMap;
use std::sync::Arc;

use minfer_graph::{
    Counts, Graph, KvTypes, PARTITION_POSITIONS, StateDecl, StepKind, StepShape, Want,
};
use minfer_models::Model;
use minfer_plan::{
    Bounds, Bucket, Buckets, Caps, Device, Inputs, Layout, Limit, Options, Placement, Planned,
    Program, RunTicket, Runner, StateHandle, StepOutputs, work_capacity,
};

use crate::error::Error;
use crate::gate::gate;
use crate::kv::PageCopy;
use crate::scheduler::DECODE_ROWS;
use crate::stats::DeviceMemory;

/// Partial results that attention may keep in a step at most: work for many threads, and bounded
/// memory.
const PARTIALS_MAX: usize = 64;

/// Largest logits that steps give at most in place of all: as many as sampling looks at by
/// default, and few enough to be found in one reading.
const RANKED_MAX: usize = 40;

/// What tells an engine's programs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramKey {
    pub(crate) bucket: Bucket,
    pub(crate) want: Want,
    pub(crate) kind: StepKind,
    /// Whether every value is kept for a trace.
    pub(crate) keep_all: bool,
}

impl ProgramKey {
    /// Ids that a step gives of each output row.
    pub(crate) fn ids(&self) -> usize {
        match self.want {
            Want::Logits | Want::Argmax | Want::LogitsAndId => 1,
            Want::TopK(k) => k,
        }
    }
}

/// What all programs of an engine have in common, and those that exist.
#[derive(Debug)]
pub(crate) struct Programs {
    pub(crate) buckets: Buckets,
    pub(crate) placement: Placement,
    /// Of each device: layouts of the model's weights.
    pub(crate) layouts: Vec<Vec<Layout>>,
    /// Of each device: its state.
    pub(crate) handles: Vec<StateHandle>,
    pub(crate) states: Arc<[StateDecl]>,
    pub(crate) options: Options,
    pub(crate) sizes: Sizes,
    pub(crate) bounds: Bounds,
    pub(crate) planned: HashMap<ProgramKey, Arc<Program>>,
    pub(crate) runners: HashMap<ProgramKey, Runner>,
}

/// The engine's constants in every step's shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) kv: KvTypes,
    /// Sequences of a step at most.
    pub(crate) sequences: usize,
    /// Pages of the longest sequence.
    pub(crate) pages: usize,
    /// Positions of the longest sequence.
    pub(crate) context: usize,
    /// What steps give of each output row where all logits are read.
    pub(crate) whole: Want,
    /// Logits of a row.
    pub(crate) vocabulary: usize,
    /// Whether prompts and chosen tokens come in steps of their own.
    pub(crate) apart: bool,
}

impl Sizes {
    /// Kinds of steps, that of texts first.
    fn kinds(&self) -> &'static [StepKind] {
        match self.apart {
            true => &[StepKind::Prompt, StepKind::Decode],
            false => &[StepKind::Mixed],
        }
    }

    /// What steps give whose rows look at so many of the largest logits; `None` for all.
    pub(crate) fn want(&self, ranked: Option<usize>) -> Want {
        let most = RANKED_MAX.min(self.vocabulary);
        match ranked {
            Some(0..=1) => Want::TopK(1),
            Some(k) if k <= most => Want::TopK(most),
            Some(_) | None => self.whole,
        }
    }

    /// The shape of a program's steps.
    pub(crate) fn shape(&self, key: ProgramKey) -> StepShape {
        let bucket = key.bucket;
        let sequences = self.sequences.min(bucket.tokens);
        let partitions = self.context.div_ceil(PARTITION_POSITIONS);
        let partials = match key.kind {
            // How a prompt is cut must not show.
            StepKind::Prompt => 0,
            StepKind::Mixed | StepKind::Decode if partitions < 2 => 0,
            StepKind::Mixed | StepKind::Decode => (sequences * partitions).min(PARTIALS_MAX),
        };
        StepShape {
            tokens: bucket.tokens,
            outputs: bucket.outputs,
            want: key.want,
            kind: key.kind,
            kv: self.kv,
            sequences,
            pages: self.pages,
            work: work_capacity(bucket.tokens, sequences, partials),
            partials,
        }
    }
}

impl Programs {
    /// The program for steps that `counts` fits; `None` when it fits no bucket.
    pub(crate) fn key(&self, counts: Counts, want: Want, kind: StepKind) -> Option<ProgramKey> {
        let bucket = self.buckets.choose(counts.tokens, counts.outputs)?;
        Some(ProgramKey { bucket, want, kind, keep_all: false })
    }

    /// The program for steps of a text whose logits are read.
    pub(crate) fn text_key(&self, counts: Counts, keep_all: bool) -> Option<ProgramKey> {
        let key = self.whole(self.buckets.choose(counts.tokens, counts.outputs)?);
        // Traces have the same nodes on every device.
        Some(if keep_all { ProgramKey { want: Want::Logits, keep_all, ..key } } else { key })
    }

    /// The key of the steps of texts of a bucket whose logits are read.
    pub(crate) fn whole(&self, bucket: Bucket) -> ProgramKey {
        let Sizes { whole, .. } = self.sizes;
        ProgramKey { bucket, want: whole, kind: self.sizes.kinds()[0], keep_all: false }
    }

    /// The keys of all steps whose logits are read.
    fn all(&self) -> Vec<ProgramKey> {
        let of_kind = |kind: &StepKind| {
            let most = if *kind == StepKind::Decode { DECODE_ROWS } else { usize::MAX };
            let buckets = self.buckets.all().iter().filter(move |bucket| bucket.tokens <= most);
            let kind = *kind;
            buckets.map(move |bucket| ProgramKey { kind, ..self.whole(*bucket) })
        };
        self.sizes.kinds().iter().flat_map(of_kind).collect()
    }

    /// The graph of a bucket, before planning.
    pub(crate) fn graph(&self, model: &Model, bucket: Bucket) -> Result<Graph, Error> {
        Ok(model.graph(&self.sizes.shape(self.whole(bucket)))?)
    }

    /// The program of a key.
    pub(crate) fn plan(
        &mut self,
        model: &Model,
        devices: &[Box<dyn Device>],
        key: ProgramKey,
    ) -> Result<Arc<Program>, Error> {
        if let Some(program) = self.planned.get(&key) {
            return Ok(program.clone());
        }
        let graph = model.graph(&self.sizes.shape(key))?;
        let layouts = self.layouts.iter();
        let targets: Vec<Planned<'_>> = devices
            .iter()
            .zip(layouts)
            .map(|(device, layouts)| Planned { target: device.target(), layouts })
            .collect();
        let options = Options { keep_all: key.keep_all, ..self.options.clone() };
        let program = minfer_plan::plan(&graph, &targets, &self.placement, &options)
            .map_err(|error| gate(error, &graph, &targets, &self.placement, &options))?;
        let program = Arc::new(program);
        tracing::debug!(
            tokens = key.bucket.tokens,
            outputs = key.bucket.outputs,
            splits = program.splits.len(),
            "planned"
        );
        self.planned.insert(key, program.clone());
        Ok(program)
    }

    /// Plans the smallest and the largest bucket: what a device cannot run is known at load.
    pub(crate) fn plan_ends(
        &mut self,
        model: &Model,
        devices: &[Box<dyn Device>],
    ) -> Result<(), Error> {
        let keys = self.all();
        for kind in self.sizes.kinds() {
            let of_kind = || keys.iter().filter(|key| key.kind == *kind);
            for key in of_kind().next().into_iter().chain(of_kind().next_back()) {
                self.plan(model, devices, *key)?;
            }
        }
        Ok(())
    }

    /// Loads every program where devices make kernels for them, so that one which cannot be made
    /// is known before the first request.
    pub(crate) fn load_all(
        &mut self,
        model: &Model,
        devices: &mut [Box<dyn Device>],
    ) -> Result<(), Error> {
        if devices.iter().any(|device| device.target().caps().overlaps) {
            for key in self.all() {
                self.runner(model, devices, key)?;
                let ranked = ProgramKey { want: self.sizes.want(Some(1)), ..key };
                self.runner(model, devices, ranked)?;
            }
        }
        Ok(())
    }

    fn runner(
        &mut self,
        model: &Model,
        devices: &mut [Box<dyn Device>],
        key: ProgramKey,
    ) -> Result<&Runner, Error> {
        if !self.runners.contains_key(&key) {
            let program = self.plan(model, devices, key)?;
            self.runners.insert(key, Runner::load(devices, program, &self.handles)?);
        }
        Ok(&self.runners[&key])
    }

    /// Begins a step.
    pub(crate) fn submit(
        &mut self,
        model: &Model,
        devices: &mut [Box<dyn Device>],
        key: ProgramKey,
        inputs: Inputs,
    ) -> Result<RunTicket, Error> {
        let checked = inputs.check(&self.sizes.shape(key), &self.bounds);
        checked.map_err(minfer_plan::Error::from)?;
        let runner = self.runner(model, devices, key)?;
        Ok(runner.submit(devices, Arc::new(inputs))?)
    }

    /// Runs a step that was begun to its end.
    pub(crate) fn wait<'d>(
        &self,
        devices: &'d mut [Box<dyn Device>],
        key: ProgramKey,
        ticket: RunTicket,
        limit: &Limit<'_>,
    ) -> Result<StepOutputs<'d>, Error> {
        Ok(self.runners[&key].wait(devices, ticket, limit)?)
    }

    /// Copies pages on every device that has layers of their group.
    pub(crate) fn copy_pages(
        &self,
        devices: &mut [Box<dyn Device>],
        copies: &[PageCopy],
    ) -> Result<(), Error> {
        for copy in copies {
            for (target, device) in devices.iter_mut().enumerate() {
                if self.has_group(target, copy.group) {
                    device.copy_page(self.handles[target], copy.group, copy.from, copy.to)?;
                }
            }
        }
        Ok(())
    }

    fn has_group(&self, target: usize, of: usize) -> bool {
        self.states.iter().any(|state| match state {
            StateDecl::Paged { group, layer, .. } => {
                *group == of && self.placement.layers[*layer].0 as usize == target
            }
            StateDecl::PerSequence { .. } => false,
        })
    }

    /// What a device holds, where its weights have so many bytes.
    pub(crate) fn device_memory(
        &self,
        target: usize,
        caps: &Caps,
        weights_bytes: u64,
    ) -> DeviceMemory {
        let here = |layer: &usize| self.placement.layers[*layer].0 as usize == target;
        let states = self.states.iter().filter(|state| here(&state.layer()));
        let pages = &self.bounds.pool_pages;
        DeviceMemory {
            kind: caps.kind,
            name: caps.name.clone(),
            layers: (0..self.placement.layers.len()).filter(here).count(),
            weights_bytes,
            kv_bytes: states.map(|state| state.page_bytes() as u64 * pages_of(state, pages)).sum(),
            arena_bytes: self.arena_bytes(target),
        }
    }

    /// Bytes of the arena and staging areas that the planned programs need on a device.
    fn arena_bytes(&self, target: usize) -> u64 {
        let splits = self.planned.values().flat_map(|program| &program.splits);
        let splits = splits.filter(|split| split.target.0 as usize == target);
        let sizes = splits.map(|split| (split.memory.arena_bytes, split.memory.staging_bytes));
        let (arena, staging) = sizes.fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        (arena + 2 * staging) as u64
    }
}

/// Pages of a state's pool.
fn pages_of(state: &StateDecl, pages: &[usize]) -> u64 {
    match state {
        StateDecl::Paged { group, .. } => pages[*group] as u64,
        StateDecl::PerSequence { .. } => 0,
    }
}
