//! From settings to an engine.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use minfer_engine::{
    DeviceChoice, Engine, EngineOptions, Error, Fusion, KvType, KvTypes, MetalOptions, Metallib,
    Staging,
};
use minfer_gguf::File;
use minfer_plan::{Caps, DeviceKind};

use super::self_test;
use crate::clock::SystemClock;
use crate::failure::usage;
use crate::flags::settings::{Settings, Source};
use crate::flags::{Flag, table};
use crate::hub;
use crate::hub::repository::size;
use crate::output::{self, Style};

/// Loads the model that the settings name.
///
/// # Errors
/// No such model, a damaged file, options that do not fit it.
pub fn engine(settings: &Settings, style: Style) -> Result<Engine> {
    engine_with(settings, style, options(settings)?)
}

/// Loads the model that the settings name, with other options.
///
/// # Errors
/// As [`engine`].
pub fn engine_with(settings: &Settings, style: Style, options: EngineOptions) -> Result<Engine> {
    let mut engine = another(settings, style, options)?;
    if let Some(greeting) = greeting(&mut engine)?.filter(|_| !settings.is_off(&table::TIMINGS)) {
        output::note(&style.dim(&greeting));
    }
    warn(settings, engine.devices(), engine.model().config().context);
    Ok(engine)
}

/// Loads the model once more: what there is to say of the settings has been said.
///
/// # Errors
/// As [`engine`].
pub fn another(settings: &Settings, style: Style, options: EngineOptions) -> Result<Engine> {
    let path = hub::locate(settings, style)?;
    let _progress = style.spinner("loading");
    tracing::debug!(path = %path.display(), "loading");
    let loaded = Engine::load(&path, options);
    let mut engine = loaded.map_err(|error| named(&path, advised(error)))?;
    let memory = engine.memory()?;
    tracing::debug!(placement = %memory.placement, context = memory.context, "loaded");
    Ok(engine)
}

/// Says which settings go beyond what model and machine have: the command goes on, for its result
/// is the same or what was asked for.
pub fn warn<'c>(settings: &Settings, devices: impl Iterator<Item = &'c Caps>, trained: usize) {
    let warning = |text: String| output::note(&format!("warning: {text}"));
    let context = settings.count(&table::CTX_SIZE);
    if context > trained {
        warning(format!(
            "--ctx-size {context} is more than the {trained} positions the model was trained \
             with; beyond those it may write nonsense"
        ));
    }
    let (threads, there) = (settings.count(&table::THREADS), processors());
    if threads > there {
        warning(format!(
            "--threads {threads} on {there} processor{}: more threads than processors only wait \
             for each other",
            if there == 1 { "" } else { "s" }
        ));
    }
    let kinds: Vec<DeviceKind> = devices.map(|caps| caps.kind).collect();
    warn_of_gpu(settings, &kinds, &warning);
}

/// What only a GPU has a use for.
static GPU_ONLY: &[&Flag] = &[
    &table::STAGING,
    &table::GPU_TIMEOUT,
    &table::GPU_OVERCOMMIT,
    &table::WEIGHT_COPY,
    &table::WARM_UP,
    &table::METALLIB,
    &table::METAL_CAPTURE,
];

/// Says which settings of a GPU have none to be of.
fn warn_of_gpu(settings: &Settings, kinds: &[DeviceKind], warning: &impl Fn(String)) {
    let device = settings.text(&table::DEVICE_NAME).filter(|name| *name != "auto");
    let typed = |flag| settings.source(flag) == Some(&Source::CommandLine);
    if device != Some("metal-sim") && typed(&table::SIM_CHECKED) {
        warning("--sim-checked has no effect without --device metal-sim".to_owned());
    }
    if kinds.iter().copied().any(is_gpu) {
        return;
    }
    // An answer is the same wherever it is computed, so that the CPU may do what was meant for an
    // accelerator; a command line for llama.cpp stays good.
    let is_wish =
        |text: &str| text.parse().map_or(typed(&table::GPU_LAYERS), |layers: usize| layers > 0);
    let layers = settings.text(&table::GPU_LAYERS).filter(|text| is_wish(text));
    if let Some(layers) = layers {
        warning(match device {
            Some(name) => format!("--gpu-layers {layers} has no effect with --device {name}"),
            None => format!(
                "--gpu-layers {layers}: there is no GPU device in this build; the CPU runs all \
                 layers"
            ),
        });
    }
    for flag in GPU_ONLY {
        if typed(flag) {
            warning(format!("--{} has no effect without a GPU", flag.name));
        }
    }
}

fn is_gpu(kind: DeviceKind) -> bool {
    match kind {
        DeviceKind::Metal | DeviceKind::Cuda => true,
        DeviceKind::Cpu | DeviceKind::Reference => false,
    }
}

/// The GPU of an engine, if it has one.
pub fn gpu(engine: &Engine) -> Option<&Caps> {
    engine.devices().find(|caps| is_gpu(caps.kind))
}

/// The line that says which GPU is used, and how much of the model is there.
fn greeting(engine: &mut Engine) -> Result<Option<String>> {
    let placement = engine.memory()?.placement;
    let Some(caps) = gpu(engine) else { return Ok(None) };
    let mut about = vec![format!("{placement}: {}", caps.name)];
    about.extend((!caps.features.is_empty()).then(|| caps.features.clone()));
    about.extend(caps.memory_bytes.map(|bytes| format!("working set {}", size(bytes))));
    about.extend(caps.bytes_per_second.map(|speed| format!("{:.1} GB/s", speed / 1e9)));
    Ok(Some(format!("[{}]", about.join(", "))))
}

/// Says that the longest measurement goes beyond what the model was trained with, where no other
/// warning has.
pub fn warn_beyond(engine: &Engine, positions: usize, settings: &Settings) {
    let trained = engine.model().config().context;
    if positions > trained && settings.count(&table::CTX_SIZE) <= trained {
        output::note(&format!(
            "warning: the longest test takes {positions} positions, more than the {trained} the \
             model was trained with"
        ));
    }
}

/// Opens the file that the settings name.
///
/// # Errors
/// No such model, or a damaged file.
pub fn file(settings: &Settings, style: Style) -> Result<File> {
    open(&hub::locate(settings, style)?, settings)
}

/// Opens a file as the settings say.
///
/// # Errors
/// It cannot be opened or is damaged.
pub fn open(path: &Path, settings: &Settings) -> Result<File> {
    // Nothing is kept in memory for a look at a file.
    let options = minfer_gguf::OpenOptions { mmap: settings.on(&table::MMAP), mlock: false };
    File::open_with(path, options).map_err(|error| named(path, error.into()))
}

/// Puts the path before an error that does not say it.
fn named(path: &Path, error: anyhow::Error) -> anyhow::Error {
    let path = path.display().to_string();
    let said = error.to_string().contains(&path);
    if said { error } else { error.context(path) }
}

/// What keeps a model off a GPU, with what its user can ask for instead.
pub fn advised(error: Error) -> anyhow::Error {
    match &error {
        Error::Gate { possible: 0, .. } => {
            anyhow!("{error}; --device cpu runs the model without it")
        }
        Error::Gate { possible, .. } => anyhow!(
            "{error}; -ngl {possible} gives it the last {possible} layers and the rest to the CPU, \
             --device cpu runs the model without it"
        ),
        Error::WorkingSet { .. } => anyhow!(
            "{error}; -c N makes the cache smaller, -ngl N leaves layers to the CPU, \
             --gpu-overcommit tries it all the same"
        ),
        _other => error.into(),
    }
}

/// The engine's options: one text at a time.
///
/// # Errors
/// A value that cannot be.
pub fn options(settings: &Settings) -> Result<EngineOptions> {
    let device = device(settings)?;
    let kv = KvTypes {
        key: kv_type(settings, &table::CACHE_TYPE_K)?,
        value: kv_type(settings, &table::CACHE_TYPE_V)?,
    };
    Ok(EngineOptions {
        device,
        gpu_layers: gpu_layers(settings)?,
        metal: metal(settings)?,
        gpu_overcommit: settings.on(&table::GPU_OVERCOMMIT),
        sim_checked: settings.on(&table::SIM_CHECKED),
        threads: threads(settings),
        context: settings.some_count(&table::CTX_SIZE),
        batch: settings.count(&table::BATCH_SIZE),
        chunk: settings.some_count(&table::UBATCH_SIZE),
        kv,
        exact: settings.on(&table::EXACT),
        deterministic: settings.on(&table::DETERMINISTIC),
        fusions: fusions(settings.text(&table::FUSIONS).unwrap_or("all"))?,
        sequences: 1,
        prefix_cache: settings.on(&table::PREFIX_CACHE),
        mmap: settings.on(&table::MMAP),
        mlock: settings.on(&table::MLOCK),
        tune: tune(settings)?,
        tokenizer_pre: settings.text(&table::TOKENIZER_PRE).map(str::to_owned),
        clock: Arc::new(SystemClock),
        profile: settings.on(&table::PROFILE),
        ..EngineOptions::default()
    })
}

/// The options of a device alone.
///
/// # Errors
/// A value that cannot be.
pub fn device_options(settings: &Settings) -> Result<EngineOptions> {
    Ok(EngineOptions {
        device: device(settings)?,
        threads: threads(settings),
        metal: MetalOptions { metallib: metallib(settings)?, ..MetalOptions::default() },
        tune: tune(settings)?,
        mmap: settings.on(&table::MMAP),
        clock: Arc::new(SystemClock),
        ..EngineOptions::default()
    })
}

/// The choices between kernels that a file of `self-test` has.
fn tune(settings: &Settings) -> Result<BTreeMap<String, u32>> {
    let Some(path) = settings.path(&table::TUNE) else { return Ok(BTreeMap::new()) };
    let text = fs::read_to_string(&path).with_context(|| format!("--tune {}", path.display()))?;
    self_test::tune_of(&text).map_err(|why| usage(format!("--tune {}: {why}", path.display())))
}

/// Threads that the settings ask for.
pub fn threads(settings: &Settings) -> usize {
    settings.some_count(&table::THREADS).unwrap_or_else(processors)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The device that is asked for. One that this build lacks is refused here, before a model is
/// fetched or read for it.
fn device(settings: &Settings) -> Result<DeviceChoice> {
    let name = settings.text(&table::DEVICE_NAME).unwrap_or("auto");
    let choice: DeviceChoice = name.parse()?;
    if choice != DeviceChoice::Auto {
        let there = minfer_engine::available(1);
        if !there.iter().any(|device| device.choice == choice) {
            let names: Vec<&str> = there.iter().map(|device| device.choice.name()).collect();
            let names = names.join(", ");
            return Err(usage(format!("--device {name}: not in this build, which has {names}")));
        }
    }
    Ok(choice)
}

fn metal(settings: &Settings) -> Result<MetalOptions> {
    Ok(MetalOptions {
        staging: match settings.text(&table::STAGING) {
            Some("f32") => Staging::Full,
            _half => Staging::Half,
        },
        deadline: Duration::from_secs_f64(settings.number(&table::GPU_TIMEOUT)),
        copy_weights: settings.on(&table::WEIGHT_COPY),
        warm_up: settings.on(&table::WARM_UP),
        metallib: metallib(settings)?,
        capture: settings.path(&table::METAL_CAPTURE),
        ..MetalOptions::default()
    })
}

/// The library that kernels are to come from.
fn metallib(settings: &Settings) -> Result<Option<Metallib>> {
    let Some(path) = settings.path(&table::METALLIB) else { return Ok(None) };
    let name = format!("--metallib {}", path.display());
    let bytes = fs::read(&path).with_context(|| name.clone())?;
    Ok(Some(Metallib { name, bytes: bytes.into() }))
}

fn kv_type(settings: &Settings, flag: &'static Flag) -> Result<KvType> {
    let name = settings.text(flag).unwrap_or("f16");
    KvType::from_name(name).with_context(|| format!("--{}: no type {name}", flag.name))
}

fn gpu_layers(settings: &Settings) -> Result<Option<usize>> {
    match settings.text(&table::GPU_LAYERS) {
        None | Some("all" | "auto" | "-1") => Ok(None),
        Some(text) => match text.parse() {
            Ok(layers) => Ok(Some(layers)),
            Err(_) => {
                Err(usage(format!("--gpu-layers {text:?}: expected a number of layers or all")))
            }
        },
    }
}

fn fusions(text: &str) -> Result<Vec<Fusion>> {
    let known = minfer_plan::FUSIONS;
    match text {
        "all" => return Ok(known.to_vec()),
        "none" => return Ok(Vec::new()),
        _list => {}
    }
    let find = |name: &str| {
        known.iter().copied().find(|fusion| fusion.name() == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|fusion| fusion.name()).collect();
            usage(format!(
                "--fusions: no fusion {name:?}; there are all, none, {}",
                names.join(", ")
            ))
        })
    };
    text.split(',').map(|name| find(name.trim())).collect()
}
