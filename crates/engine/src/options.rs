//! What an engine can be told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minfer_backend_metal::MetalOptions;
use minfer_graph::KvTypes;
use minfer_plan::{FUSIONS, Fusion};
use minfer_quant::KvType;

use crate::clock::{Clock, FrozenClock};
use crate::devices::DeviceChoice;
use crate::error::Error;

/// Sequences that may run at once at most: each may need an output row, and a step has 32.
const SEQUENCES_MAX: usize = 32;
/// Tokens of a step at most.
const BATCH_MAX: usize = 8192;
/// Longest context that may be asked for.
const CONTEXT_MAX: usize = 16 << 20;
/// Pages of a pool at most.
const PAGES_MAX: usize = 1 << 24;
/// Worker threads at most.
const THREADS_MAX: usize = 1024;

/// Settings of an engine.
#[derive(Clone)]
pub struct EngineOptions {
    /// Where the model runs.
    pub device: DeviceChoice,
    /// Layers on an accelerator, the last ones first; `None` for all of them. One more than the
    /// model has layers places its head there too.
    pub gpu_layers: Option<usize>,
    /// Settings of an Apple GPU.
    pub metal: MetalOptions,
    /// Whether a GPU may be given more than 90 % of its working set.
    pub gpu_overcommit: bool,
    /// Whether the simulator of Metal watches every access and barrier of the kernels: slow.
    pub sim_checked: bool,
    /// Choices between variants of kernels by their names, as the device has them.
    pub tune: BTreeMap<String, u32>,
    /// Worker threads of the CPU.
    pub threads: usize,
    /// Positions of the longest sequence; `None` for the trained context, 8192 at most.
    pub context: Option<usize>,
    /// Tokens of a step at most.
    pub batch: usize,
    /// Tokens of one sequence in a step at most; `None` for `batch`.
    pub chunk: Option<usize>,
    /// Stored types of the KV cache; the exact path takes f32.
    pub kv: KvTypes,
    /// Pages of the pool of a KV group without a window; `None` for one whole context and a page
    /// per sequence.
    pub kv_pages: Option<usize>,
    /// The exact path: activations stay f32, and so does the KV cache.
    pub exact: bool,
    /// Whether a request gives the same bits whoever else is served and however prompts are cut,
    /// on devices where that costs something too.
    pub deterministic: bool,
    /// Fusions that planning may use.
    pub fusions: Vec<Fusion>,
    /// Sequences that run at once at most, 1 to 32; others wait.
    pub sequences: usize,
    /// Whether pages of finished text are kept for prompts that start alike.
    pub prefix_cache: bool,
    /// Whether the file is mapped rather than read.
    pub mmap: bool,
    /// Whether the file's pages are locked in memory.
    pub mlock: bool,
    /// The word-splitting rule to use instead of the file's.
    pub tokenizer_pre: Option<String>,
    /// The clock behind durations and deadlines.
    pub clock: Arc<dyn Clock>,
    /// Whether launches are timed, see [`crate::Engine::profile`].
    pub profile: bool,
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            device: DeviceChoice::Auto,
            gpu_layers: None,
            metal: MetalOptions::default(),
            gpu_overcommit: false,
            sim_checked: false,
            tune: BTreeMap::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            context: None,
            batch: 512,
            chunk: None,
            kv: KvTypes { key: KvType::F16, value: KvType::F16 },
            kv_pages: None,
            exact: false,
            deterministic: false,
            fusions: FUSIONS.to_vec(),
            sequences: 8,
            prefix_cache: true,
            mmap: true,
            mlock: false,
            tokenizer_pre: None,
            clock: Arc::new(FrozenClock),
            profile: false,
        }
    }
}

impl fmt::Debug for EngineOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineOptions")
            .field("device", &self.device)
            .field("threads", &self.threads)
            .field("context", &self.context)
            .field("batch", &self.batch)
            .field("kv", &self.kv)
            .field("exact", &self.exact)
            .field("sequences", &self.sequences)
            .finish_non_exhaustive()
    }
}

impl EngineOptions {
    /// Checks every field's range.
    pub fn validate(&self) -> Result<(), Error> {
        within("threads", 1, THREADS_MAX, self.threads)?;
        within("batch", 1, BATCH_MAX, self.batch)?;
        within("sequences", 1, SEQUENCES_MAX, self.sequences)?;
        within("chunk", 1, BATCH_MAX, self.chunk.unwrap_or(1))?;
        within("context", 1, CONTEXT_MAX, self.context.unwrap_or(1))?;
        within("kv_pages", 1, PAGES_MAX, self.kv_pages.unwrap_or(1))
    }

    /// The types that the KV cache really has.
    pub fn kv_types(&self) -> KvTypes {
        match self.exact {
            true => KvTypes { key: KvType::F32, value: KvType::F32 },
            false => self.kv,
        }
    }
}

fn within(option: &'static str, low: usize, high: usize, found: usize) -> Result<(), Error> {
    if (low..=high).contains(&found) {
        return Ok(());
    }
    let (expected, found) = (format!("{low} to {high}"), found.to_string());
    Err(Error::Options { option, expected, found })
}
