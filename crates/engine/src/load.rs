//! From a file to an engine: model, tokenizer, weights, KV pages.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::thread;

use minfer_gguf::{File, OpenOptions};
use minfer_graph::{PAGE_POSITIONS, StateDecl, StateId, Want, WeightId};
use minfer_models::Model;
use minfer_plan::{
    Bounds, Buckets, Device, DeviceKind, Layout, Options, PlacedState, PlacedWeight, Placement,
    Region, StateHandle, TargetId,
};
use minfer_tokenizer::Tokenizer;

use crate::batch;
use crate::devices;
use crate::engine::Engine;
use crate::error::Error;
use crate::flight;
use crate::gate;
use crate::kv::GroupConfig;
use crate::options::EngineOptions;
use crate::programs::{Programs, Sizes};
use crate::scheduler::{self, Config, Scheduler};
use crate::stats::WaitProfile;

/// Context by default: the trained one up to this.
const CONTEXT_DEFAULT: usize = 8192;

impl Engine {
    /// Opens a file and loads it.
    ///
    /// # Errors
    /// The file is damaged, not a model that runs here, or does not fit; the device is not there;
    /// an option is out of its range.
    pub fn load(path: &Path, options: EngineOptions) -> Result<Engine, Error> {
        options.validate()?;
        let how = OpenOptions { mmap: options.mmap, mlock: options.mlock };
        Engine::from_file(File::open_with(path, how)?, options)
    }

    /// Loads an open file.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn from_file(file: File, options: EngineOptions) -> Result<Engine, Error> {
        let devices = devices::open(&options)?;
        Engine::build(file, devices, None, options)
    }

    /// Loads an open file on given devices, layer by layer as `placement` says (its targets are
    /// indices of `devices`).
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn with_devices(
        file: File,
        devices: Vec<Box<dyn Device>>,
        placement: Placement,
        options: EngineOptions,
    ) -> Result<Engine, Error> {
        Engine::build(file, devices, Some(placement), options)
    }

    fn build(
        file: File,
        mut devices: Vec<Box<dyn Device>>,
        placement: Option<Placement>,
        options: EngineOptions,
    ) -> Result<Engine, Error> {
        options.validate()?;
        thread::scope(|scope| {
            let read = minfer_tokenizer::Options { pre: options.tokenizer_pre.clone() };
            let metadata = file.metadata();
            let vocabulary = scope.spawn(move || Tokenizer::from_metadata(metadata, &read));
            let loaded = Loaded::new(&file, &mut devices, placement, &options);
            let tokenizer = vocabulary.join().map_err(|_| Error::TokenizerThread)?;
            Ok::<_, Error>((loaded?, tokenizer?))
        })
        .map(|(loaded, tokenizer)| {
            let Loaded { model, programs, placed, weights_bytes, scheduler } = loaded;
            Engine {
                windows: batch::windows(&programs.states),
                file,
                model,
                tokenizer: Arc::new(tokenizer),
                devices,
                programs,
                placed,
                weights_bytes,
                scheduler,
                live: BTreeMap::new(),
                flight: None,
                pending: Vec::new(),
                options,
                control: OnceLock::new(),
                trie: None,
                lost: false,
                steps: 0,
                profiled: BTreeMap::new(),
                waits: WaitProfile::default(),
            }
        })
    }
}

/// What loading makes beside the tokenizer.
struct Loaded {
    model: Model,
    programs: Programs,
    placed: String,
    weights_bytes: Vec<u64>,
    scheduler: Scheduler,
}

impl Loaded {
    fn new(
        file: &File,
        devices: &mut [Box<dyn Device>],
        placement: Option<Placement>,
        options: &EngineOptions,
    ) -> Result<Loaded, Error> {
        let model = minfer_models::open(file)?;
        let config = model.config();
        let kinds: Vec<DeviceKind> = devices.iter().map(|d| d.target().caps().kind).collect();
        let (placement, placed) = match placement {
            Some(placement) => (placement, "as given".to_string()),
            None => place(config.layers, &kinds, options.gpu_layers),
        };
        let states = model.states(options.kv_types())?;
        let apart = options.deterministic
            && devices.iter().any(|device| depends_on_others(device.as_ref()));
        let scheduling = Config { apart, ..scheduling(&states, config.context, options) };
        let scheduler = Scheduler::new(scheduling);
        let context = scheduler.context();
        let sizes = Sizes {
            kv: options.kv_types(),
            sequences: options.sequences,
            pages: scheduler::pages_of(context),
            context,
            whole: if flight::overlaps(devices) { Want::LogitsAndId } else { Want::Logits },
            vocabulary: config.vocabulary,
            apart,
        };
        let groups = scheduler.groups();
        let bounds = Bounds {
            vocabulary: config.vocabulary,
            context,
            pool_pages: (0..groups.len()).map(|group| groups.pool(group).total()).collect(),
        };
        let mut programs = Programs {
            buckets: Buckets::new(options.batch),
            placement,
            layouts: Vec::new(),
            handles: Vec::new(),
            states,
            options: Options {
                fusions: options.fusions.clone(),
                exact: options.exact,
                keep_all: false,
            },
            sizes,
            bounds,
            planned: HashMap::new(),
            runners: HashMap::new(),
        };
        let weights_bytes = place_weights(file, &model, devices, &mut programs)?;
        programs.plan_ends(&model, devices)?;
        if !options.gpu_overcommit {
            check_working_sets(devices, &programs, &weights_bytes)?;
        }
        programs.handles = place_states(devices, &programs)?;
        programs.load_all(&model, devices)?;
        Ok(Loaded { model, programs, placed, weights_bytes, scheduler })
    }
}

/// Whether the bits of a row depend on what else a step of mixed rows brings.
fn depends_on_others(device: &dyn Device) -> bool {
    !device.target().caps().batch_invariant
}

/// Where the layers go, and why. Of two devices the first is an accelerator: it takes the last
/// `gpu_layers` layers (all of them by default), and the head when that is more than there are or
/// not said.
pub fn place(
    layers: usize,
    kinds: &[DeviceKind],
    gpu_layers: Option<usize>,
) -> (Placement, String) {
    let name = kinds.first().map_or("no device", |kind| kind.name());
    let (Some(wanted), Some(_)) = (gpu_layers, kinds.get(1)) else {
        let placed = format!("all {layers} layers on {name}");
        return (Placement::whole(TargetId(0), layers), placed);
    };
    let there = wanted.min(layers);
    let (accelerator, host) = (TargetId(0), TargetId(1));
    let end = |all: bool| if all { accelerator } else { host };
    let mut placement = Placement::whole(host, layers);
    placement.layers[layers - there..].fill(accelerator);
    placement.head = end(wanted > layers);
    placement.embed = end(there == layers && wanted > layers);
    let placed = format!("{there} of {layers} layers on {name}, as asked for");
    (placement, placed)
}

/// The scheduler's limits: every pool holds what one sequence of the whole context needs, and a
/// page more for each that may run; a windowed pool no more than its sequences can hold, and one
/// more of them for the prefix cache.
fn scheduling(states: &[StateDecl], trained: usize, options: &EngineOptions) -> Config {
    let context = options.context.unwrap_or(trained.min(CONTEXT_DEFAULT));
    if context > trained {
        tracing::warn!(context, trained, "the context is longer than the trained one");
    }
    let chunk = options.chunk.unwrap_or(options.batch).min(options.batch);
    let whole = scheduler::pages_of(context);
    let pages = options.kv_pages.unwrap_or(whole + options.sequences);
    let group = |window: Option<usize>| match window {
        None => GroupConfig { window, pages },
        Some(size) => {
            let one = whole.min((size + chunk).div_ceil(PAGE_POSITIONS) + 1);
            GroupConfig { window, pages: pages.min(one * (options.sequences + 1)).max(one) }
        }
    };
    Config {
        batch: options.batch,
        chunk,
        sequences: options.sequences,
        context,
        groups: batch::windows(states).into_iter().map(group).collect(),
        prefix_cache: options.prefix_cache,
        apart: false,
    }
}

/// Gives each device the weights that its nodes read; bytes by device.
fn place_weights(
    file: &File,
    model: &Model,
    devices: &mut [Box<dyn Device>],
    programs: &mut Programs,
) -> Result<Vec<u64>, Error> {
    let smallest = programs.buckets.choose(1, 1);
    let smallest = smallest.unwrap_or(minfer_plan::Bucket { tokens: 1, outputs: 1 });
    let graph = programs.graph(model, smallest)?;
    let regions: Vec<Region> = file.parts().iter().map(|part| Region(part.clone())).collect();
    let count = devices.len();
    let mut bytes = Vec::with_capacity(count);
    for (target, device) in devices.iter_mut().enumerate() {
        let ids = programs.placement.weights(&graph, count, TargetId(target as u32))?;
        let weights: Vec<PlacedWeight> = ids.iter().map(|id| placed_weight(model, *id)).collect();
        let given = device.weights(&regions, &weights)?;
        let mut layouts = vec![Layout::File; model.weights().len()];
        for (id, layout) in ids.iter().zip(given) {
            layouts[id.0 as usize] = layout;
        }
        programs.layouts.push(layouts);
        bytes.push(weights.iter().map(|weight| weight.decl.bytes() as u64).sum());
    }
    Ok(bytes)
}

fn placed_weight(model: &Model, id: WeightId) -> PlacedWeight {
    let source = model.sources()[id.0 as usize];
    PlacedWeight {
        id,
        decl: model.weights()[id.0 as usize].clone(),
        region: source.part,
        offset: source.offset as usize,
    }
}

/// Makes the KV pages of each device's layers.
fn place_states(
    devices: &mut [Box<dyn Device>],
    programs: &Programs,
) -> Result<Vec<StateHandle>, Error> {
    let states = &programs.states;
    let placed_state = |id: StateId| {
        let decl = states[id.0 as usize].clone();
        let pages = match &decl {
            StateDecl::Paged { group, .. } => programs.bounds.pool_pages[*group],
            StateDecl::PerSequence { .. } => programs.sizes.sequences,
        };
        PlacedState { id, decl, pages }
    };
    let mut handles = Vec::with_capacity(devices.len());
    for (target, device) in devices.iter_mut().enumerate() {
        let ids = programs.placement.states(states, TargetId(target as u32));
        let placed: Vec<PlacedState> = ids.into_iter().map(placed_state).collect();
        handles.push(device.state(&placed)?);
    }
    Ok(handles)
}

/// Checks what is planned against what each GPU may keep in use.
fn check_working_sets(
    devices: &[Box<dyn Device>],
    programs: &Programs,
    weights_bytes: &[u64],
) -> Result<(), Error> {
    for (target, (device, weights)) in devices.iter().zip(weights_bytes).enumerate() {
        let caps = device.target().caps();
        if let Some(working_set) = caps.memory_bytes {
            let memory = programs.device_memory(target, caps, *weights);
            gate::check_working_set(&memory, working_set)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
