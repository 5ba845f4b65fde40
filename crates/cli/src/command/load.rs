//! From settings to an engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use minfer_engine::{DeviceChoice, Engine, EngineOptions, Fusion, KvType, KvTypes};
use minfer_gguf::File;
use minfer_plan::{Caps, DeviceKind};

use crate::clock::SystemClock;
use crate::failure::usage;
use crate::flags::settings::{Settings, Source};
use crate::flags::{Flag, table};
use crate::hub;
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
    let engine = another(settings, style, options)?;
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
    let mut engine = named(&path, Engine::load(&path, options))?;
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
    // An answer is the same wherever it is computed, so that the CPU may do what was meant for an
    // accelerator; a command line for llama.cpp stays good.
    let typed = settings.source(&table::GPU_LAYERS) == Some(&Source::CommandLine);
    let is_wish = |text: &str| text.parse().map_or(typed, |layers: usize| layers > 0);
    let layers = settings.text(&table::GPU_LAYERS).filter(|text| is_wish(text));
    let mut devices = devices.map(|caps| caps.kind);
    let is_gpu = |kind: DeviceKind| match kind {
        DeviceKind::Metal | DeviceKind::Cuda => true,
        DeviceKind::Cpu | DeviceKind::Reference => false,
    };
    if let Some(layers) = layers
        && !devices.any(is_gpu)
    {
        let device = settings.text(&table::DEVICE_NAME).filter(|name| *name != "auto");
        warning(match device {
            Some(name) => format!("--gpu-layers {layers} has no effect with --device {name}"),
            None => format!(
                "--gpu-layers {layers}: there is no GPU device in this build; the CPU runs all \
                 layers"
            ),
        });
    }
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
    named(path, File::open_with(path, options))
}

/// Puts the path before an error that does not say it.
fn named<T, E: std::error::Error + Send + Sync + 'static>(
    path: &Path,
    result: Result<T, E>,
) -> Result<T> {
    result.map_err(|error| {
        let path = path.display().to_string();
        let said = error.to_string().contains(&path);
        let error = anyhow::Error::new(error);
        if said { error } else { error.context(path) }
    })
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
        threads: threads(settings),
        context: settings.some_count(&table::CTX_SIZE),
        batch: settings.count(&table::BATCH_SIZE),
        chunk: settings.some_count(&table::UBATCH_SIZE),
        kv,
        exact: settings.on(&table::EXACT),
        fusions: fusions(settings.text(&table::FUSIONS).unwrap_or("all"))?,
        sequences: 1,
        prefix_cache: settings.on(&table::PREFIX_CACHE),
        mmap: settings.on(&table::MMAP),
        mlock: settings.on(&table::MLOCK),
        tokenizer_pre: settings.text(&table::TOKENIZER_PRE).map(str::to_owned),
        clock: Arc::new(SystemClock),
        profile: settings.on(&table::PROFILE),
        ..EngineOptions::default()
    })
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
